import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.metrics import mutual_info_score

from unbraid.metrics import Factors, mutual_information_gap


def literal_mig(codes, factors, bins=20):
    """The formula with scikit-learn's mutual information, factor by factor."""
    gaps = []
    for factor in factors.T:
        known = []
        for latent in codes.T:
            edges = np.histogram(latent, bins)[1]
            known.append(mutual_info_score(np.digitize(latent, edges[:-1]), factor))
        known = sorted(known)
        gaps.append((known[-1] - known[-2]) / mutual_info_score(factor, factor))
    return np.mean(gaps)


@pytest.mark.parametrize("name", ["perfect", "noisy", "rotated", "random"])
def test_equals_the_formula_written_with_another_library(name):
    codes, factors = sampled(name, SPACES["dsprites"], 3000)
    expected = literal_mig(codes, factors)
    assert mutual_information_gap(codes, factors) == pytest.approx(expected, abs=1e-12)


def test_a_factor_held_by_one_latent_alone_has_its_whole_entropy_as_gap():
    grid = np.stack(np.meshgrid(range(4), range(5)), axis=-1).reshape(-1, 2)
    codes = np.column_stack([grid, np.zeros(20)]).astype(float)
    score = mutual_information_gap(codes, grid)
    assert score == pytest.approx(1.0)
    assert score.per_factor == pytest.approx({"factor_0": 1.0, "factor_1": 1.0})
    assert score.matrix[2] == pytest.approx([0.0, 0.0])


def test_a_duplicate_latent_closes_the_gap():
    codes, factors = sampled("perfect", SPACES["dsprites"], 2000)
    twice = np.column_stack([codes[:, :5], codes[:, :5]])
    assert mutual_information_gap(twice, factors) == pytest.approx(0.0, abs=1e-12)


def test_rows_with_a_missing_label_are_left_out_for_that_factor_only():
    codes, factors = sampled("noisy", SPACES["dsprites"], 3000)
    holes = factors.astype(float)
    holes[::3, 1] = np.nan
    score = mutual_information_gap(codes, Factors(holes, names=tuple("abcde")))
    whole = mutual_information_gap(codes, Factors(factors, names=tuple("abcde")))
    assert score.per_factor["a"] == whole.per_factor["a"]
    assert score.per_factor["b"] == pytest.approx(whole.per_factor["b"], abs=0.05)
    assert score.per_factor["b"] != whole.per_factor["b"]


def test_one_latent_is_refused():
    with pytest.raises(ValueError, match="at least two latents"):
        mutual_information_gap([[0.0], [1.0]], [[0], [1]])
