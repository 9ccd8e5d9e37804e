import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from sklearn.metrics import roc_auc_score

from unbraid.metrics import Factors, Split, explicitness_score
from unbraid.metrics.supervised._explicitness import mean_area_under_curves

REFERENCES = Path(__file__).parents[2] / "references"
PUBLISHED = json.loads((REFERENCES / "dlib_information.json").read_text())
SPLIT = Split(np.arange(10000), np.arange(10000, 15000))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_disentanglement_lib(name, space):
    codes, factors = sampled(name, SPACES[space], 15000)
    score = explicitness_score(codes, factors, split=SPLIT)
    expected = PUBLISHED[f"{space}/{name}"]
    areas = list(score.per_factor.values())
    assert areas == pytest.approx(expected["explicitness_test"], abs=1e-6)
    train = np.mean(expected["explicitness_train"])
    assert score.details["train"] == pytest.approx(train, abs=1e-6)


def test_areas_equal_those_of_scikit_learn_with_ties():
    generator = np.random.default_rng(0)
    scores = generator.integers(0, 5, (300, 4)) / 4
    labels = generator.integers(0, 4, 300)
    expected = np.mean([roc_auc_score(labels == c, scores[:, c]) for c in range(4)])
    area = mean_area_under_curves(scores, labels[:, None] == np.arange(4))
    assert area == pytest.approx(expected, abs=1e-12)


def test_a_class_without_rows_is_left_out_of_the_average():
    generator = np.random.default_rng(0)
    scores = generator.random((300, 4))
    is_class = generator.integers(0, 3, 300)[:, None] == np.arange(4)
    area = mean_area_under_curves(scores, is_class)
    assert area == mean_area_under_curves(scores[:, :3], is_class[:, :3])
    assert mean_area_under_curves(scores, is_class & False) == 0.5


def test_a_class_may_be_absent_from_either_part_of_a_split():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 900)
    shapes = factors[:, 4]
    without, everything = np.flatnonzero(shapes != 3), np.arange(900)
    for split in (Split(without, everything), Split(everything, without)):
        assert 0.6 < explicitness_score(codes, shapes, split=split) < 1.0


def test_a_single_class_to_learn_from_gives_chance():
    labels = np.repeat([0, 1], 50)
    split = Split(np.arange(40), np.arange(40, 100))
    assert explicitness_score(labels[:, None], labels, split=split) == 0.5


def test_a_factor_without_labels_to_test_on_is_refused():
    labels = np.repeat([0.0, 1.0, np.nan], 50)
    split = Split(np.arange(100), np.arange(100, 150))
    with pytest.raises(
        ValueError, match="in 100 rows to learn from and 0 rows to test on"
    ):
        explicitness_score(np.arange(150.0), Factors(labels), split=split)
    split = Split(np.arange(0), np.arange(100))
    with pytest.raises(
        ValueError, match="in 0 rows to learn from and 100 rows to test on"
    ):
        explicitness_score(np.arange(150.0), Factors(labels), split=split)


def test_constant_latents_do_no_harm():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 600)
    with_constant = np.column_stack([codes, np.full(600, 0.1)])
    score = explicitness_score(with_constant, factors[:, :2])
    expected = explicitness_score(codes, factors[:, :2])
    assert score == pytest.approx(expected, abs=1e-6)
