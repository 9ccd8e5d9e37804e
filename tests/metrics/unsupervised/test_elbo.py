import numpy as np
import pytest

from unbraid.metrics import evidence_lower_bound, kl_per_latent, reconstruction_error

GENERATOR = np.random.default_rng(0)


def test_is_what_is_reconstructed_less_what_the_code_costs():
    nats, cost = GENERATOR.random(100) * 50, GENERATOR.random((100, 3))
    score = evidence_lower_bound(nats, cost)
    assert score == pytest.approx(-nats.mean() - cost.sum(axis=1).mean())
    assert score.details["reconstruction"] == pytest.approx(nats.mean())
    assert score.details["kl"] == pytest.approx(cost.sum(axis=1).mean())
    assert evidence_lower_bound(nats, cost.sum(axis=1)) == pytest.approx(score)
    bound = -nats - cost.sum(axis=1)
    assert score.details["standard_error"] == pytest.approx(bound.std() / 10)


def test_never_exceeds_the_evidence_and_equals_it_for_the_true_posterior():
    # z ~ N(0, 1), x | z ~ N(z, 1): p(z | x) = N(x / 2, 1 / 2), p(x) = N(0, 2).
    x = GENERATOR.standard_normal((200_000, 1)) * np.sqrt(2)
    evidence = -0.5 * np.mean(x**2 / 2 + np.log(4 * np.pi))
    for variance in (0.5, 0.25):
        logs = np.full_like(x, np.log(variance))
        z = x / 2 + np.sqrt(variance) * GENERATOR.standard_normal(x.shape)
        nats = reconstruction_error(x, z, likelihood="gaussian")
        cost = kl_per_latent(x / 2, logs)
        bound = evidence_lower_bound([nats], [cost])
        # The gap is the divergence from the true posterior.
        gap = 0.5 * (variance / 0.5 - 1 - np.log(variance / 0.5))
        assert bound == pytest.approx(evidence - gap, abs=0.01)


@pytest.mark.parametrize(
    ("nats", "cost"),
    [
        ([1.0, 2.0], [1.0]),
        ([], []),
        (1.0, 1.0),
        ([np.nan], [1.0]),
        ([1.0], [[np.inf, 0.0]]),
    ],
)
def test_malformed_input_is_refused(nats, cost):
    with pytest.raises(
        ValueError, match="evidence_lower_bound( needs one|: .* must be finite)"
    ):
        evidence_lower_bound(nats, cost)
