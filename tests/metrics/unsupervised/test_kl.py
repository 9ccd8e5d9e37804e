import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from unbraid.metrics import kl_per_latent

GENERATOR = np.random.default_rng(0)
MEANS = GENERATOR.standard_normal((50, 4))
LOGS = GENERATOR.standard_normal((50, 4))


def test_equals_the_divergence_of_another_library():
    posterior = Normal(torch.tensor(MEANS), torch.tensor(np.exp(LOGS / 2)))
    expected = kl_divergence(posterior, Normal(0.0, 1.0)).mean(dim=0).numpy()
    score = kl_per_latent(MEANS, LOGS)
    assert score == pytest.approx(expected.sum())
    assert [score.details[f"latent_{j}"] for j in range(4)] == pytest.approx(expected)


def test_a_posterior_equal_to_the_prior_is_not_active():
    means, logs = MEANS.copy(), LOGS.copy()
    means[:, 1] = logs[:, 1] = 0.0
    score = kl_per_latent(means, logs)
    assert score.details["latent_1"] == 0.0
    assert score.details["n_active"] == 3
    assert kl_per_latent(means, logs, threshold=100.0).details["n_active"] == 0


def test_a_posterior_next_to_the_prior_keeps_its_digits():
    # x^2 / 4 in the limit, lost to rounding when written with exp(x) - 1.
    score = kl_per_latent(np.zeros((2, 1)), np.full((2, 1), 1e-7))
    assert score == pytest.approx(1e-14 / 4, rel=1e-2)


def test_malformed_input_is_refused():
    with pytest.raises(ValueError, match="log_variances must have shape"):
        kl_per_latent(MEANS, LOGS[:, :3])
    with pytest.raises(ValueError, match="threshold must be"):
        kl_per_latent(MEANS, LOGS, threshold=-0.1)
