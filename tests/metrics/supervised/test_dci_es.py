import numpy as np
import pytest
from constructed import SPACES, sampled

from unbraid.metrics import Factors, dci_es


def uniform(n_rows, n_columns, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, size=(n_rows, n_columns))


def test_explicitness_is_the_area_between_the_curve_and_its_end():
    factors = uniform(3000, 2)
    codes = np.hstack([np.cos(3 * factors), np.sin(3 * factors)])
    scores = dci_es(codes, factors, waves=(0, 10, 100, 400))
    assert scores.capacities.tolist() == [5, 15, 105, 405]
    for k, explicitness in enumerate(scores.explicitness.per_factor.values()):
        area = 0.0
        lowest = [min(1.0, *scores.losses[: t + 1, k]) for t in range(4)]
        for t in range(3):
            width = np.log(scores.capacities[t + 1]) - np.log(scores.capacities[t])
            area += width * ((lowest[t] + lowest[t + 1]) / 2 - lowest[-1])
        triangle = (np.log(405) - np.log(5)) / 2
        assert explicitness == pytest.approx(1 - area / triangle)
    assert scores.explicitness == pytest.approx(
        np.mean(list(scores.explicitness.per_factor.values()))
    )


def test_the_smallest_probe_is_a_linear_regression():
    factors = uniform(3000, 1)
    codes = np.hstack([factors**3, uniform(3000, 1, seed=1)])
    loss = dci_es(codes, factors).losses[0, 0]
    # The share of the variance of x that x^3 explains, for x uniform in [-1, 1].
    assert loss == pytest.approx(1 - 21 / 25, abs=0.02)


def test_factors_in_linear_codes_are_explicit_and_wound_up_ones_are_less():
    factors = uniform(3000, 2)
    linear = dci_es(factors @ np.array([[1.0, 2.0], [2.0, -1.0]]), factors)
    wound = [
        dci_es(np.hstack([np.cos(w * factors), np.sin(w * factors)]), factors)
        for w in (1.0, 3.0)
    ]
    assert linear.explicitness == pytest.approx(1.0, abs=1e-3)
    assert linear.explicitness > wound[0].explicitness > wound[1].explicitness
    assert wound[1].explicitness < 0.85


def test_order_sign_and_scale_of_latents_hardly_matter():
    codes, factors = sampled("noisy", SPACES["dsprites"], 3000)
    plain = dci_es(codes, factors).explicitness
    other = dci_es(-7 * codes[:, ::-1] + 3, factors).explicitness
    assert other == pytest.approx(plain, abs=0.02)


def test_size_is_factors_over_latents_and_at_most_one():
    factors = uniform(200, 3)
    assert dci_es(uniform(200, 6), factors).size == 0.5
    assert dci_es(uniform(200, 2), factors).size == 1.0


def test_codes_that_know_nothing_are_told_in_the_note():
    factors = uniform(900, 2)
    codes = np.column_stack([factors[:, 0], uniform(900, 1, seed=1)])
    score = dci_es(codes, Factors(factors, names=("seen", "unseen"))).explicitness
    assert score.note.endswith("no probe predicts: unseen")
    assert score.per_factor["unseen"] > 0.95
    assert score.details["lowest_loss"] == pytest.approx(0.5, abs=0.03)


def test_a_categorical_factor_is_read_by_its_indicators():
    labels = np.random.default_rng(0).integers(0, 3, 900)
    on_a_line = dci_es(labels, Factors(labels, kinds=["categorical"]))
    one_hot = dci_es(np.eye(3)[labels], Factors(labels, kinds=["categorical"]))
    assert one_hot.losses[0, 0] < 1e-3
    # The middle of three classes on a line is no linear function of the place.
    assert on_a_line.losses[0, 0] == pytest.approx(0.5, abs=0.03)


def test_constant_duplicate_and_missing_ones_are_scored():
    values = uniform(600, 2)
    values[::2, 1] = np.nan
    codes = np.column_stack([values[:, 0], values[:, 0], np.ones(600)])
    scores = dci_es(codes, values)
    assert np.isfinite(scores.losses).all()
    assert scores.explicitness.per_factor["factor_0"] == pytest.approx(1.0, abs=1e-2)


def test_a_factor_without_gaps_is_not_touched_by_those_of_another():
    values = uniform(600, 2)
    codes = np.sin(2 * values)
    whole = dci_es(codes, values).explicitness.per_factor
    values[::2, 1] = np.nan
    holes = dci_es(codes, values).explicitness.per_factor
    assert holes["factor_0"] == pytest.approx(whole["factor_0"], abs=1e-9)
    assert holes["factor_1"] != whole["factor_1"]


def test_test_rows_that_leave_nothing_to_read_are_no_error():
    codes = uniform(3, 2)
    # Whichever row is tested on, in one of these it has the mean of the other two.
    for factor in ([0, 1, 2], [1, 0, 2], [0, 2, 1]):
        assert 0 <= dci_es(codes, factor).explicitness <= 1


def test_the_seed_decides():
    codes, factors = sampled("warped", SPACES["dsprites"], 900)
    first, again, other = (dci_es(codes, factors, seed=seed) for seed in (0, 0, 1))
    assert first.explicitness == again.explicitness
    assert first.explicitness != other.explicitness


@pytest.mark.parametrize("waves", [(8,), (8, 8), (8, 4)])
def test_waves_that_are_not_ascending_are_refused(waves):
    with pytest.raises(ValueError, match="two or more ascending numbers"):
        dci_es(np.eye(4), np.arange(4), waves=waves)


def test_a_negative_number_of_waves_is_refused():
    with pytest.raises(
        ValueError, match="every number of waves must be .* least 0, got -1"
    ):
        dci_es(np.eye(4), np.arange(4), waves=(-1, 4))
