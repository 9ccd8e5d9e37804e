import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled

from unbraid.metrics import Factors, Split, separated_attribute_predictability

REFERENCES = Path(__file__).parents[2] / "references"
PUBLISHED = json.loads((REFERENCES / "dlib_information.json").read_text())
SPLIT = Split(np.arange(10000), np.arange(10000, 15000))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_disentanglement_lib_but_for_the_tolerance_of_its_solver(name, space):
    codes, factors = sampled(name, SPACES[space], 15000)
    score = separated_attribute_predictability(codes, factors, split=SPLIT)
    expected = PUBLISHED[f"{space}/{name}"]
    assert score.seed is None
    assert score == pytest.approx(expected["sap"], abs=1e-4)
    # Its solver stops early, which moves single accuracies by up to 9 of 5,000 rows.
    accuracies = np.array(expected["sap_accuracies"])
    assert score.matrix == pytest.approx(accuracies, abs=2e-3)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_equals_disentanglement_lib_on_continuous_factors(name, space):
    codes, factors = sampled(name, SPACES[space], 15000)
    factors = Factors(factors, kinds=("continuous",) * factors.shape[1])
    score = separated_attribute_predictability(codes, factors, split=SPLIT)
    expected = PUBLISHED[f"{space}/{name}"]["sap_continuous"]
    assert score == pytest.approx(expected, abs=1e-9)


def test_r2_scores_every_factor_as_a_continuous_one():
    """The published numbers are those of disentanglement_lib for continuous factors."""
    codes, factors = sampled("noisy", SPACES["shapes3d"], 15000)
    score = separated_attribute_predictability(codes, factors, score="r2", split=SPLIT)
    expected = PUBLISHED["shapes3d/noisy"]["sap_continuous"]
    assert score == pytest.approx(expected, abs=1e-9)
    assert score.variant == "r2"
    assert score != separated_attribute_predictability(codes, factors, split=SPLIT)


def test_kinds_decide_how_a_factor_is_predicted():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 1500)
    factors = Factors(factors[:, :2], kinds=("continuous", "ordinal"))
    score = separated_attribute_predictability(codes, factors)
    expected = np.corrcoef(codes[:, 0], factors.values[:, 0])[0, 1] ** 2
    assert score.matrix[0, 0] == pytest.approx(expected, abs=0.02)
    assert score.matrix[1, 1] < 0.5


def test_a_duplicate_latent_closes_the_lead():
    codes, factors = sampled("perfect", SPACES["shapes3d"], 1500)
    twice = np.column_stack([codes, codes])
    assert separated_attribute_predictability(twice, factors) == 0.0


def test_a_constant_latent_explains_nothing_of_a_continuous_factor():
    values = np.linspace(0, 1, 300)
    codes = np.column_stack([values, np.full(300, 0.1)])
    score = separated_attribute_predictability(codes, values)
    assert score.matrix[:, 0] == pytest.approx([1.0, 0.0])


def test_another_seed_draws_other_rows():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 1500)
    first, again, other = (
        separated_attribute_predictability(codes, factors, seed=seed)
        for seed in (0, 0, 1)
    )
    assert first == again
    assert first != other
    assert other.seed == 1


def test_one_latent_is_refused():
    with pytest.raises(ValueError, match="at least two latents"):
        separated_attribute_predictability([[0.0], [1.0]], [[0], [1]])


@pytest.mark.parametrize("cost", [0.0, -1.0, float("nan")])
def test_a_cost_that_is_not_positive_is_refused(cost):
    with pytest.raises(ValueError, match="cost must be"):
        separated_attribute_predictability(np.eye(4), [0, 0, 1, 1], cost=cost)
