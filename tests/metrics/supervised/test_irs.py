import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled

from unbraid.metrics import Factors, interventional_robustness_score

REFERENCES = Path(__file__).parents[2] / "references"
PUBLISHED = json.loads((REFERENCES / "dlib_information.json").read_text())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_disentanglement_lib(name, space):
    codes, factors = sampled(name, SPACES[space], 15000)
    codes, factors = codes[:10000], factors[:10000]
    expected = PUBLISHED[f"{space}/{name}"]
    score = interventional_robustness_score(codes, factors)
    assert score == pytest.approx(expected["irs"], abs=1e-9)
    assert score.matrix.max(axis=1) == pytest.approx(
        expected["irs_of_latents"], abs=1e-9
    )
    as_in_paper = interventional_robustness_score(codes, factors, quantile=1.0)
    assert as_in_paper == pytest.approx(expected["irs_quantile_1"], abs=1e-9)


def test_a_sum_of_two_factors_strays_half_as_far_when_one_is_held():
    factors = np.indices((2, 2)).reshape(2, -1).T
    codes = factors.sum(axis=1, keepdims=True)
    score = interventional_robustness_score(codes, factors, quantile=1.0)
    assert score.matrix == pytest.approx(np.array([[0.5, 0.5]]))
    assert score == pytest.approx(0.5)


def test_latents_weigh_as_far_as_they_stray():
    factors = np.indices((2, 2)).reshape(2, -1).T
    codes = np.column_stack([3.0 * factors[:, 0], factors.sum(axis=1)])
    score = interventional_robustness_score(codes, factors, quantile=1.0)
    assert score == pytest.approx((1.5 * 1.0 + 1.0 * 0.5) / 2.5)


def test_a_constant_latent_is_left_out_and_not_counted():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 2000)
    with_constant = np.column_stack([codes, np.full(2000, 0.1)])
    score = interventional_robustness_score(with_constant, factors)
    assert score == interventional_robustness_score(codes, factors)
    assert score.details["n_active"] == 10
    assert (score.matrix[10] == 0).all()


def test_only_constant_latents_give_zero():
    score = interventional_robustness_score(np.full((4, 2), 0.1), [0, 0, 1, 1])
    assert score == 0.0
    assert score.details["n_active"] == 0


def test_values_are_merged_unless_all_are_told_apart():
    # Declared, because so many values with few rows each are taken to be continuous.
    values = Factors(np.repeat(np.arange(40), 5), kinds=["ordinal"])
    codes = np.repeat(np.arange(40.0), 5)[:, None]
    assert interventional_robustness_score(codes, values, factor_bins=None) == 1.0
    assert interventional_robustness_score(codes, values) < 1.0


def test_rows_with_a_missing_label_are_left_out_for_that_factor_only():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 3000)
    holes = factors.astype(float)
    holes[::3, 1] = np.nan
    score = interventional_robustness_score(codes, Factors(holes))
    whole = interventional_robustness_score(codes, factors)
    assert (score.matrix[:, 0] == whole.matrix[:, 0]).all()
    assert (score.matrix[:, 1] != whole.matrix[:, 1]).all()


@pytest.mark.parametrize("quantile", [-0.1, 1.1, float("nan")])
def test_a_quantile_that_is_none_is_refused(quantile):
    with pytest.raises(
        ValueError, match="quantile must be (between 0 and 1|a finite number)"
    ):
        interventional_robustness_score([[0.0], [1.0]], [0, 1], quantile=quantile)
