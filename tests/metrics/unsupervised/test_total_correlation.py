import json
from pathlib import Path

import numpy as np
import pytest
from constructed import NAMES, SPACES, sampled

from unbraid.metrics import gaussian_total_correlation

REFERENCES = Path(__file__).parents[2] / "references"
DLIB = json.loads((REFERENCES / "dlib_unsupervised.json").read_text())


def codes_of(covariance, n_rows=200):
    """Rows with exactly this covariance."""
    size = len(covariance)
    noise = np.random.default_rng(0).standard_normal((n_rows, size))
    noise -= noise.mean(axis=0)
    white = noise @ np.linalg.inv(np.linalg.cholesky(np.cov(noise.T))).T
    return white @ np.linalg.cholesky(covariance).T


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_disentanglement_lib(space, name):
    codes, _ = sampled(name, SPACES[space], 15000)
    expected = DLIB[f"{space}/{name}"]["gaussian_total_correlation"]
    assert gaussian_total_correlation(codes) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("correlation", [-0.9, 0.0, 0.5, 0.999])
def test_two_latents_have_their_closed_form_at_any_scale(correlation):
    codes = codes_of(np.array([[1.0, correlation], [correlation, 1.0]]))
    expected = -0.5 * np.log(1 - correlation**2)
    score = gaussian_total_correlation(codes * [3.0, 0.001] + 7.0)
    assert score == pytest.approx(expected, abs=1e-9)


def test_is_the_divergence_between_the_gaussian_and_its_marginals():
    square = np.random.default_rng(1).standard_normal((4, 4))
    covariance = square @ square.T + 0.1 * np.eye(4)
    marginals = np.diag(np.diag(covariance))
    expected = 0.5 * (
        np.trace(np.linalg.inv(marginals) @ covariance)
        - 4
        + np.log(np.linalg.det(marginals) / np.linalg.det(covariance))
    )
    score = gaussian_total_correlation(codes_of(covariance))
    assert score == pytest.approx(expected, abs=1e-9)


def test_permutation_and_sign_change_nothing():
    codes, _ = sampled("mixed", SPACES["dsprites"], 1000)
    score = gaussian_total_correlation(codes)
    assert gaussian_total_correlation(-codes[:, ::-1]) == pytest.approx(score)


def test_constant_latents_are_left_out_with_a_note():
    codes, _ = sampled("noisy", SPACES["dsprites"], 1000)
    # A mean of many 0.1 is not 0.1: the variance is not exactly zero.
    padded = np.column_stack([codes[:, :3], np.full(1000, 0.1), codes[:, 3:]])
    score = gaussian_total_correlation(padded)
    assert score == gaussian_total_correlation(codes)
    assert "constant: latents [3]" in score.note
    assert score.details["n_latents"] == 10
    assert gaussian_total_correlation(np.ones((5, 2))) == 0.0
    assert gaussian_total_correlation(np.arange(5.0)) == 0.0


@pytest.mark.parametrize("scale", [1.0, -3.7])
def test_dependent_latents_are_refused_with_a_reason(scale):
    codes, _ = sampled("noisy", SPACES["dsprites"], 1000)
    table = np.column_stack([codes, scale * codes[:, 0] + 0.3])
    with pytest.raises(ValueError, match="only 10 of the 11 latents that vary are lin"):
        gaussian_total_correlation(table)


def test_no_more_rows_than_latents_are_refused():
    codes = np.random.default_rng(0).standard_normal((4, 4))
    with pytest.raises(ValueError, match="4 rows are too few for 4 latents"):
        gaussian_total_correlation(codes)
    assert gaussian_total_correlation(codes[:, :2]) < np.inf


def test_posterior_variance_is_added_to_the_diagonal():
    codes = codes_of(np.array([[1.0, 0.9], [0.9, 1.0]]))
    logs = np.log(np.tile([[0.5, 3.0], [1.5, 1.0]], (100, 1)))
    score = gaussian_total_correlation(codes, log_variances=logs)
    expected = -0.5 * np.log(1 - 0.9**2 / (2.0 * 3.0))
    assert score == pytest.approx(expected, abs=1e-9)


def test_samples_of_the_posterior_come_near_the_exact_score():
    codes = codes_of(np.array([[1.0, 0.9], [0.9, 1.0]]), 100_000)
    logs = np.log(np.random.default_rng(1).random(codes.shape))
    exact = gaussian_total_correlation(codes, log_variances=logs)
    drawn = [
        gaussian_total_correlation(
            codes, log_variances=logs, posterior="sampled", seed=seed
        )
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == pytest.approx(exact, abs=0.01)
    assert drawn[0].seed == 0
    assert exact.seed is None


def test_a_dead_latent_is_no_constant_once_its_posterior_is_sampled():
    codes = np.column_stack([np.arange(50.0), np.zeros(50)])
    score = gaussian_total_correlation(codes, log_variances=np.zeros((50, 2)))
    assert score == pytest.approx(0.0, abs=1e-12)
    assert score.details["n_latents"] == 2


@pytest.mark.parametrize(
    "logs", [np.zeros((5, 1)), np.full((5, 2), np.nan), np.full((5, 2), 800.0)]
)
def test_malformed_log_variances_are_refused(logs):
    codes = np.random.default_rng(0).random((5, 2))
    with pytest.raises(ValueError, match="log_variances"):
        gaussian_total_correlation(codes, log_variances=logs)


def test_an_unknown_posterior_is_refused():
    with pytest.raises(ValueError, match="posterior must be"):
        gaussian_total_correlation(np.eye(3), posterior="drawn")
