import json
from pathlib import Path

import numpy as np
import pytest
from constructed import SPACES, constructed, sampled

from unbraid.data import FactorSpace
from unbraid.metrics import Factors, reduced_downstream_accuracy

RECORDED = json.loads(
    (Path(__file__).parents[2] / "references" / "dlib_downstream.json").read_text()
)
SMALL = FactorSpace(("shape", "scale", "x", "y", "angle"), (3, 5, 8, 8, 10))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["perfect", "rotated", "noisy"])
def test_agrees_with_disentanglement_lib(name):
    recorded = RECORDED[f"small/{name}"]["reduced"]
    codes, factors = constructed(name, SMALL, np.arange(SMALL.size))
    scores = [
        reduced_downstream_accuracy(
            codes,
            factors,
            n_removed=1,
            measure_others=True,
            n_train=400,
            n_test=1000,
            seed=seed,
        )
        for seed in range(3)
    ]
    # disentanglement_lib draws test rows with replacement from the whole grid, and so
    # also rows that were learned from; trees know those by heart.
    seen = 1 - (1 - 1 / SMALL.size) ** 400
    ours = np.array([[s, s.details["others_accuracy"]] for s in scores])
    ours = (1 - seen) * ours + seen
    error = np.hypot(
        ours.std(axis=0, ddof=1) / np.sqrt(3), recorded["standard_error"][:2]
    )
    gap = np.abs(ours.mean(axis=0) - recorded["mean"][:2])
    assert (gap <= 2 * error + 0.005).all()


def test_without_its_latent_a_factor_is_at_chance_and_the_others_stay():
    codes, factors = constructed("perfect", SMALL, np.arange(SMALL.size))
    score = reduced_downstream_accuracy(
        codes,
        Factors(factors[:, :3], names=SMALL.names[:3]),
        n_removed=1,
        measure_others=True,
        n_train=150,
    )
    assert score.details["accuracy"] == 1.0
    assert score.details["others_accuracy"] == 1.0
    for name, part in score.per_factor.items():
        assert part == pytest.approx(1 / SMALL.sizes[SMALL.names.index(name)], abs=0.05)
    assert score.details["drop"] == 1.0 - score
    np.testing.assert_array_equal(score.matrix, np.eye(10, 3))


def test_a_second_copy_of_the_latents_has_to_be_dropped_as_well():
    codes, factors = constructed("perfect", SMALL, np.arange(SMALL.size))
    twice = np.column_stack([codes[:, :5], codes[:, :5]])
    once, both = (
        reduced_downstream_accuracy(twice, factors[:, :2], n_removed=n, n_train=400)
        for n in (1, 2)
    )
    assert once == 1.0
    assert both < 0.4
    np.testing.assert_array_equal(both.matrix.sum(axis=0), [2, 2])


def test_permuting_the_latents_permutes_what_is_dropped():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 300)
    factors = factors[:, 3:5]
    order = np.random.default_rng(0).permutation(10)
    plain = reduced_downstream_accuracy(codes, factors, n_removed=1)
    permuted = reduced_downstream_accuracy(codes[:, order], factors, n_removed=1)
    np.testing.assert_array_equal(permuted.matrix, plain.matrix[order])
    assert permuted == pytest.approx(plain, abs=0.05)


def test_the_same_seed_gives_the_same_score_and_logistic_is_a_choice():
    codes, factors = sampled("noisy", SPACES["shapes3d"], 400)
    one, same = (
        reduced_downstream_accuracy(
            codes, factors[:, 4], n_removed=1, predictor="logistic", seed=5
        )
        for _ in range(2)
    )
    assert one == same
    assert one.details["accuracy"] > one + 0.2


def test_when_no_latent_is_left_the_most_frequent_class_is_predicted():
    codes = np.arange(90.0)[:, None] % 3
    labels = np.tile([0, 1, 1], 30)
    score = reduced_downstream_accuracy(codes, labels, n_removed=4)
    assert score.details["accuracy"] == 1.0
    assert score == pytest.approx(2 / 3, abs=0.2)


def test_continuous_and_missing_factors_and_constant_codes_are_accepted():
    generator = np.random.default_rng(0)
    codes = np.column_stack([generator.uniform(size=(300, 2)), np.ones(300)])
    factors = np.column_stack([codes[:, 0], codes[:, 1] > 0.5, codes[:, 1]])
    factors[::3, 1] = np.nan
    score = reduced_downstream_accuracy(codes, factors, n_removed=1)
    np.testing.assert_array_equal(score.matrix, [[1, 0, 0], [0, 1, 1], [0, 0, 0]])
    assert score.per_factor["factor_0"] < 0.1
    assert score.details["accuracy"] > 0.9


def test_nothing_to_remove_is_refused():
    with pytest.raises(
        ValueError, match="n_removed must be a whole number of at least 1"
    ):
        reduced_downstream_accuracy(np.eye(4), [0, 1, 0, 1], n_removed=0)
