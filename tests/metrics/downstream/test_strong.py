import json
from pathlib import Path

import numpy as np
import pytest
from constructed import SPACES, constructed, sampled

from unbraid.data import FactorSpace
from unbraid.metrics import Factors, strong_generalization_accuracy

RECORDED = json.loads(
    (Path(__file__).parents[2] / "references" / "dlib_downstream.json").read_text()
)
SMALL = FactorSpace(("shape", "scale", "x", "y", "angle"), (3, 5, 8, 8, 10))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perfect", "rotated", "noisy"])
def test_agrees_with_disentanglement_lib(name):
    recorded = RECORDED[f"small/{name}"]["strong"]
    codes, factors = constructed(name, SMALL, np.arange(SMALL.size))
    scores = [
        strong_generalization_accuracy(
            codes, factors, n_experiments=5, n_train=400, n_test=1000, seed=seed
        )
        for seed in range(3)
    ]
    # disentanglement_lib draws test rows with replacement from the whole grid, and so
    # also rows that were learned from; trees know those by heart.
    seen = 1 - (1 - 1 / SMALL.size) ** 400
    ordinary = [(1 - seen) * s.details["accuracy"] + seen for s in scores]
    ours = np.array([[s, o, 1 - s / o] for s, o in zip(scores, ordinary, strict=True)])
    error = np.hypot(ours.std(axis=0, ddof=1) / np.sqrt(3), recorded["standard_error"])
    gap = np.abs(ours.mean(axis=0) - recorded["mean"])
    assert (gap <= 2 * error + 0.005).all()


def test_there_is_no_gap_when_factors_are_apart():
    codes, factors = constructed("perfect", SMALL, np.arange(SMALL.size))
    score = strong_generalization_accuracy(
        codes, factors, n_experiments=1, n_train=400, n_test=500
    )
    assert score == 1.0
    assert score.details["gap"] == 0.0
    assert score.note == ""


@pytest.mark.parametrize("predictor", ["boosting", "logistic"])
def test_what_holds_at_one_value_only_is_always_wrong_at_the_other(predictor):
    grid = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 30)
    parity = grid.sum(axis=1) % 2
    score = strong_generalization_accuracy(parity, grid, predictor=predictor)
    assert score == 0.0
    assert score.details["gap"] == 1.0


def test_a_table_that_is_not_a_grid_is_compared_at_equal_numbers_of_rows():
    codes, factors = sampled("perfect", SPACES["shapes3d"], 600)
    score = strong_generalization_accuracy(codes, factors[:, 3:5], n_experiments=1)
    assert score.note == "Not a complete grid: rows were selected."
    assert score > 0.97
    assert score.details["gap"] == pytest.approx(0.0, abs=0.02)
    mixed, _ = sampled("mixed", SPACES["shapes3d"], 600)
    worse = strong_generalization_accuracy(mixed, factors[:, 3:5], n_experiments=1)
    assert worse.details["gap"] > score.details["gap"] + 0.1


def test_the_seed_decides():
    space = FactorSpace(("a", "b", "c"), (3, 4, 5))
    codes, factors = constructed("noisy", space, np.arange(space.size))
    one, same, other = (
        strong_generalization_accuracy(
            codes, factors, n_experiments=1, n_train=40, seed=seed
        )
        for seed in (1, 1, 2)
    )
    assert one.details == same.details
    assert one.details != other.details


def test_continuous_and_missing_factors_are_accepted():
    generator = np.random.default_rng(0)
    values = generator.uniform(size=(500, 2))
    factors = np.column_stack([values, generator.integers(0, 3, 500)])
    factors[::4, 1] = np.nan
    codes = np.column_stack([values, np.nan_to_num(factors[:, 2]), np.zeros(500)])
    score = strong_generalization_accuracy(codes, factors)
    assert 0.9 < score <= 1.0
    assert set(score.per_factor) == {"factor_0", "factor_1", "factor_2"}


def test_one_factor_is_refused():
    with pytest.raises(ValueError, match="at least two factors"):
        strong_generalization_accuracy(np.eye(4), [0, 1, 0, 1])


def test_factors_that_are_never_known_together_are_refused():
    factors = np.full((8, 2), np.nan)
    factors[:4, 0] = factors[4:, 1] = [0, 1, 0, 1]
    with pytest.raises(ValueError, match="'a' is known and another factor varies"):
        strong_generalization_accuracy(
            np.arange(8.0), Factors(factors, names=("a", "b"))
        )
