import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.metrics import mutual_info_score

from unbraid.metrics import dcimig_score


def literal_dcimig(codes, factors, bins=20):
    """The definition with scikit-learn's mutual information, latent by latent."""
    kept = dict.fromkeys(range(factors.shape[1]), 0.0)
    for latent in codes.T:
        binned = np.digitize(latent, np.histogram(latent, bins)[1][:-1])
        known = [mutual_info_score(binned, factor) for factor in factors.T]
        winner = int(np.argmax(known))
        kept[winner] = max(kept[winner], sorted(known)[-1] - sorted(known)[-2])
    return sum(kept.values()) / sum(mutual_info_score(v, v) for v in factors.T)


@pytest.mark.parametrize("name", ["duplicated", "noisy", "rotated", "random"])
def test_equals_the_definition_written_with_another_library(name):
    codes, factors = sampled(name, SPACES["dsprites"], 3000)
    expected = literal_dcimig(codes, factors)
    assert dcimig_score(codes, factors) == pytest.approx(expected, abs=1e-12)


def test_duplicate_latents_change_nothing():
    codes, factors = sampled("noisy", SPACES["dsprites"], 2000)
    twice = np.column_stack([codes, codes])
    assert dcimig_score(twice, factors) == dcimig_score(codes, factors)


def test_a_factor_that_is_no_latents_best_keeps_nothing():
    factors = np.indices((4, 2)).reshape(2, -1).T
    score = dcimig_score(factors[:, :1], factors)
    assert score.per_factor == pytest.approx({"factor_0": 1.0, "factor_1": 0.0})
    assert score == pytest.approx(np.log(4) / (np.log(4) + np.log(2)))


def test_with_one_factor_the_score_is_what_the_best_latent_knows():
    codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    assert dcimig_score(codes, [0, 0, 1, 1]) == pytest.approx(1.0)
