import json
from pathlib import Path

import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.ensemble import GradientBoostingClassifier

from unbraid.foundation import numpy_generator
from unbraid.metrics import (
    Factors,
    Split,
    downstream_accuracy,
    statistical_efficiency,
)
from unbraid.metrics.downstream._learner import Learner

RECORDED = json.loads(
    (Path(__file__).parents[2] / "references" / "dlib_downstream.json").read_text()
)
SPACE = SPACES["shapes3d"]


@pytest.fixture(scope="module")
def noisy():
    """Codes and two factors (8 and 4 values) of 900 rows."""
    codes, factors = sampled("noisy", SPACE, 900)
    return codes, factors[:, [3, 4]]


@pytest.mark.parametrize(
    ("predictor", "name"),
    [
        ("boosting", "shapes3d/noisy"),
        ("logistic", "shapes3d/noisy"),
        *(
            pytest.param(predictor, f"{space}/{name}", marks=pytest.mark.slow)
            for space in SPACES
            for name in ("rotated", "mixed", "perfect")
            for predictor in ("boosting", "logistic")
        ),
    ],
)
def test_accuracies_are_those_of_disentanglement_lib(predictor, name):
    recorded = RECORDED[f"accuracy/{predictor}"][name]["1000"]
    space, representation = name.split("/")
    codes, values = sampled(representation, SPACES[space], 15_000)
    factors = Factors(values)
    split = Split(np.arange(1000), np.arange(10_000, 15_000))
    learner = Learner(predictor=predictor)
    ours = [
        learner.fit_and_score(codes, factors, k, split) for k in range(len(recorded))
    ]
    assert np.mean(ours) == pytest.approx(np.mean(recorded), abs=0.02)


@pytest.mark.parametrize("predictor", ["boosting", "logistic"])
def test_a_factor_with_a_latent_of_its_own_is_learned_from_many_labels(predictor):
    codes, factors = sampled("perfect", SPACE, 900)
    score = downstream_accuracy(
        codes, factors[:, [3, 4]], predictor=predictor, sizes=(10, 600)
    )
    assert score == 1.0
    assert score.per_factor == {"factor_0": 1.0, "factor_1": 1.0}
    assert score.details["accuracy_10"] < 1.0
    assert score.details["min_accuracy_10"] <= score.details["accuracy_10"]
    assert score.details["accuracy_600/factor_0"] == 1.0


@pytest.mark.parametrize("predictor", ["boosting", "logistic"])
@pytest.mark.parametrize("variant", ["fast", "dlib"])
def test_constant_codes_score_the_share_of_the_most_frequent_class(predictor, variant):
    labels = np.tile([0, 1, 1, 1, 2], 60)
    score = downstream_accuracy(
        np.zeros((300, 2)),
        labels,
        predictor=predictor,
        variant=variant,
        sizes=(200,),
        n_test=100,
    )
    assert score == pytest.approx(0.6, abs=0.1)


def test_equals_the_definition_written_out(noisy):
    codes, factors = noisy
    score = downstream_accuracy(codes, factors, variant="dlib", sizes=(40,), n_test=200)
    rows = numpy_generator(0, "downstream_accuracy").choice(900, 240, replace=False)
    train, test = rows[:40], rows[40:]
    hits = []
    for factor in factors.T:
        model = GradientBoostingClassifier(random_state=0)
        model.fit(codes[train], factor[train])
        hits.append(np.mean(model.predict(codes[test]) == factor[test]))
    assert list(score.per_factor.values()) == hits
    assert score == np.mean(hits)


@pytest.mark.parametrize("predictor", ["boosting", "logistic"])
def test_ten_labels_of_which_most_classes_are_absent_are_enough_to_run(
    noisy, predictor
):
    codes, factors = noisy
    for seed in range(3):
        score = downstream_accuracy(
            codes, factors, predictor=predictor, sizes=(1, 2, 3, 10), seed=seed
        )
        assert 0.0 < score < 1.0
        assert score.details["accuracy_1"] < 0.4


def test_logistic_sees_through_a_rotation_and_trees_do_not():
    codes, factors = sampled("rotated", SPACE, 900)
    scores = {
        predictor: downstream_accuracy(
            codes, factors[:, 2], predictor=predictor, sizes=(200,)
        )
        for predictor in ("logistic", "boosting")
    }
    assert scores["logistic"] > scores["boosting"] + 0.1


def test_sign_and_order_of_latents_make_no_difference(noisy):
    codes, factors = noisy
    order = np.random.default_rng(0).permutation(codes.shape[1])
    for predictor in ("logistic", "boosting"):
        one, other = (
            downstream_accuracy(z, factors, predictor=predictor, sizes=(150,))
            for z in (codes, -codes[:, order])
        )
        assert one == pytest.approx(other, abs=0.03)


def test_trees_do_not_mind_duplicate_and_dead_latents_nor_warps(noisy):
    codes, factors = noisy
    plain = downstream_accuracy(codes, factors, sizes=(300,))
    more = np.column_stack([codes, codes, np.zeros(len(codes))])
    assert downstream_accuracy(more, factors, sizes=(300,)) == pytest.approx(
        plain, abs=0.03
    )
    warped = downstream_accuracy(np.exp(codes), factors, sizes=(300,))
    assert warped == pytest.approx(plain, abs=0.03)


def test_codes_that_know_nothing_stay_at_chance():
    codes, factors = sampled("random", SPACE, 1500)
    score = downstream_accuracy(codes, factors[:, 4], sizes=(100, 500))
    assert score == pytest.approx(0.25, abs=0.06)


def test_same_seed_same_score_and_another_seed_another(noisy):
    codes, factors = noisy
    one, same, other = (
        downstream_accuracy(codes, factors, sizes=(100,), seed=seed)
        for seed in (3, 3, 4)
    )
    assert one.details == same.details
    assert one.details != other.details
    assert one.seed == 3


def test_efficiency_is_the_ratio_of_the_mean_accuracies(noisy):
    codes, factors = noisy
    score = statistical_efficiency(codes, factors, few=20, many=200)
    both = downstream_accuracy(codes, factors, sizes=(20, 200))
    assert score == both.details["accuracy_20"] / both.details["accuracy_200"]
    assert score.per_factor["factor_1"] == pytest.approx(
        both.details["accuracy_20/factor_1"] / both.details["accuracy_200/factor_1"]
    )
    assert score.details["mean_ratio"] == np.mean(list(score.per_factor.values()))


def test_efficiency_is_among_the_details_at_the_published_sizes():
    codes, factors = sampled("noisy", SPACE, 400)
    score = downstream_accuracy(codes, factors[:, 4])
    details = score.details
    expected = details["accuracy_100"] / details["accuracy_10000"]
    assert details["statistical_efficiency"] == expected
    assert score.note == "Only 267 labeled rows to learn from, not 10000."


@pytest.mark.parametrize("predictor", ["boosting", "logistic"])
@pytest.mark.parametrize("variant", ["fast", "dlib"])
def test_a_continuous_factor_is_scored_by_explained_variance(predictor, variant):
    generator = np.random.default_rng(0)
    codes = generator.uniform(size=(600, 2))
    noise = generator.normal(size=600)
    factors = np.column_stack([codes[:, 0] + 0.1 * noise, noise])
    score = downstream_accuracy(
        codes, factors, predictor=predictor, variant=variant, sizes=(2, 400)
    )
    # Variance of a uniform variable is 1/12, that of its noise 1/100.
    assert score.per_factor["factor_0"] == pytest.approx(1 / (1 + 0.12), abs=0.06)
    assert score.per_factor["factor_1"] < 0.05
    assert score.details["min_accuracy_2"] >= 0.0


def test_nothing_to_learn_of_a_continuous_factor_has_no_efficiency():
    generator = np.random.default_rng(1)
    codes, noise = generator.uniform(size=(60, 2)), generator.normal(size=60)
    with pytest.raises(ValueError, match="nothing is learned of any factor from 40"):
        statistical_efficiency(codes, noise, few=5, many=40)
    both = np.column_stack([noise, codes[:, 0] > 0.5])
    score = statistical_efficiency(codes, both, few=5, many=40)
    assert score.factors_used == (1, 2)
    assert score == score.per_factor["factor_1"]
    assert score.note == "Nothing is learned of factor_0."


def test_rows_with_a_missing_label_are_left_out_for_that_factor_only(noisy):
    codes, factors = noisy
    holes = factors.astype(float)
    holes[50:, 1] = np.nan
    score = downstream_accuracy(
        codes, Factors(holes, names=tuple("ab")), sizes=(100,), n_test=100
    )
    whole = downstream_accuracy(
        codes, Factors(factors, names=tuple("ab")), sizes=(100,), n_test=100
    )
    assert score.per_factor["a"] == whole.per_factor["a"]
    assert score.per_factor["b"] != whole.per_factor["b"]
    assert score.note == "Only 34 labeled rows to learn from, not 100."


def test_one_latent_and_two_rows_are_enough():
    score = downstream_accuracy([[0.0], [1.0]], [0, 1])
    assert score == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"predictor": "forest"},
            "predictor must be 'logistic' or 'boosting', got 'forest'",
        ),
        ({"variant": "slow"}, "variant must be 'fast' or 'dlib', got 'slow'"),
        ({"sizes": ()}, "must be ascending"),
        ({"sizes": (100, 10)}, "must be ascending"),
        ({"sizes": (0, 10)}, "whole number of at least 1, got 0"),
        ({"n_test": 0}, "n_test"),
    ],
)
def test_settings_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        downstream_accuracy(np.eye(4), [0, 1, 0, 1], **options)
