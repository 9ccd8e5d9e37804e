import numpy as np
import pytest
from constructed import SPACES, sampled
from sklearn.metrics import mutual_info_score

from unbraid.metrics import mutual_information_gap_by_latent


def literal_mig_sup(codes, factors, bins=20):
    """The formula with scikit-learn's mutual information, latent by latent."""
    gaps = []
    for latent in codes.T:
        binned = np.digitize(latent, np.histogram(latent, bins)[1][:-1])
        known = sorted(
            mutual_info_score(binned, factor) / mutual_info_score(factor, factor)
            for factor in factors.T
        )
        gaps.append(known[-1] - known[-2])
    return np.mean(gaps)


@pytest.mark.parametrize("name", ["perfect", "noisy", "rotated", "random"])
def test_equals_the_formula_written_with_another_library(name):
    codes, factors = sampled(name, SPACES["shapes3d"], 3000)
    score = mutual_information_gap_by_latent(codes, factors, latents="all")
    assert score == pytest.approx(literal_mig_sup(codes, factors), abs=1e-12)


def test_dead_latents_lower_the_score_over_all_latents_only():
    codes, factors = sampled("perfect", SPACES["shapes3d"], 3000)
    active = mutual_information_gap_by_latent(codes, factors)
    every = mutual_information_gap_by_latent(codes, factors, latents="all")
    assert active > 0.99
    assert every == pytest.approx(0.6, abs=0.01)
    assert active.details["n_active"] == 6


def test_a_latent_that_knows_two_factors_alike_has_no_gap():
    factors = np.indices((2, 2)).reshape(2, -1).T
    score = mutual_information_gap_by_latent(
        2 * factors[:, :1] + factors[:, 1:], factors
    )
    assert score == pytest.approx(0.0, abs=1e-12)


def test_with_one_factor_the_gap_is_what_a_latent_knows_of_it():
    codes = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    score = mutual_information_gap_by_latent(codes, [0, 0, 1, 1])
    assert score.details["latent_0"] == pytest.approx(1.0)
    assert score.details["latent_1"] == pytest.approx(0.0)


def test_other_choices_of_latents_are_refused():
    with pytest.raises(ValueError, match="latents must be 'all' or 'active'"):
        mutual_information_gap_by_latent([[0.0], [1.0]], [0, 1], latents="some")
