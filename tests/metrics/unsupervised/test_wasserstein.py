import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled
from scipy.linalg import sqrtm

from unbraid.metrics import gaussian_wasserstein_correlation

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_unsupervised.json").read_text())


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disentanglement_lib(space, name):
    codes, _ = sampled(name, SPACES[space], 15000)
    expected = DLIB[f"{space}/{name}"]
    plain = gaussian_wasserstein_correlation(codes)
    share = gaussian_wasserstein_correlation(codes, normalized=True)
    key = "gaussian_wasserstein_correlation"
    assert plain == pytest.approx(expected[key], abs=1e-6)
    assert share == pytest.approx(expected[f"{key}_norm"], abs=1e-6)


def test_is_the_bures_distance_between_the_gaussian_and_its_marginals():
    codes, _ = sampled("mixed", SPACES["dsprites"], 500)
    covariance = np.cov(codes[:, :4].T)
    marginals = np.diag(np.diag(covariance))
    root = sqrtm(marginals)
    cross = sqrtm(root @ covariance @ root)
    expected = np.trace(covariance + marginals - 2 * cross)
    score = gaussian_wasserstein_correlation(codes[:, :4])
    assert score == pytest.approx(expected, abs=1e-9)


def test_a_latent_and_its_copy_have_their_closed_form():
    codes = np.random.default_rng(0).standard_normal(100)
    score = gaussian_wasserstein_correlation(
        np.column_stack([codes, codes]), normalized=True
    )
    assert score == pytest.approx(2 - 2 / np.sqrt(2), abs=1e-9)


def test_grows_with_the_square_of_the_scale_unless_normalized():
    codes, _ = sampled("mixed", SPACES["dsprites"], 500)
    score = gaussian_wasserstein_correlation(codes)
    assert gaussian_wasserstein_correlation(3 * codes) == pytest.approx(9 * score)
    share = gaussian_wasserstein_correlation(3 * codes, normalized=True)
    assert share == pytest.approx(score.details["normalized"])
    assert score.details["distance"] == score


def test_permutation_sign_and_constant_latents_change_nothing():
    codes, _ = sampled("mixed", SPACES["dsprites"], 500)
    padded = np.column_stack([-codes[:, ::-1], np.full(500, 0.1)])
    for normalized in (False, True):
        assert gaussian_wasserstein_correlation(
            padded, normalized=normalized
        ) == pytest.approx(
            gaussian_wasserstein_correlation(codes, normalized=normalized), abs=1e-9
        )


def test_codes_that_do_not_vary_score_zero_with_a_reason():
    score = gaussian_wasserstein_correlation(np.full((7, 3), 0.1), normalized=True)
    assert score == 0.0
    assert score.note == "0 because no latent varies"


def test_posterior_noise_brings_the_codes_nearer_to_independence():
    codes = np.random.default_rng(0).standard_normal((1000, 1)) * [1.0, 1.0]
    logs = np.zeros_like(codes)
    means = gaussian_wasserstein_correlation(codes, normalized=True)
    exact = gaussian_wasserstein_correlation(codes, normalized=True, log_variances=logs)
    drawn = gaussian_wasserstein_correlation(
        codes, normalized=True, log_variances=logs, posterior="sampled"
    )
    assert exact < 0.5 * means
    assert drawn == pytest.approx(exact, abs=0.05)
