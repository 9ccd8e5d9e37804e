import pytest
import torch
from parameter_errors import refusal_of

from unbraid.models.objectives import VAE, AnnealedVAE, BetaVAE


def test_loss_is_the_weighted_distance_from_the_capacity(compute):
    evidence = compute(VAE())
    kl = evidence.terms["kl"]
    for capacity in (0.5 * kl.item(), 2.0 * kl.item()):
        loss = compute(AnnealedVAE(capacity=capacity, gamma=30.0))
        torch.testing.assert_close(loss.terms["excess"], (kl - capacity).abs())
        expected = evidence.terms["reconstruction"] + 30.0 * (kl - capacity).abs()
        torch.testing.assert_close(loss.total, expected)


def test_distance_is_that_of_the_mean_divergence_and_not_the_mean_distance(
    compute, posterior
):
    each = posterior.kl_to_prior().sum(dim=1)
    capacity = each.median().item()
    excess = compute(AnnealedVAE(capacity=capacity)).terms["excess"]
    assert excess < (each - capacity).abs().mean()
    torch.testing.assert_close(excess, (each.mean() - capacity).abs())


def test_without_capacity_it_is_a_vae_exactly(compute):
    assert compute(AnnealedVAE(capacity=0.0, gamma=1.0)).total == compute(VAE()).total


def test_without_capacity_it_is_a_beta_vae_with_beta_for_gamma(compute):
    annealed = compute(AnnealedVAE(capacity=0.0, gamma=7.0))
    assert annealed.total == compute(BetaVAE(beta=7.0)).total


def test_capacity_grows_during_the_first_third_of_the_run():
    capacity = AnnealedVAE().over(900).capacity
    assert [capacity.at(step) for step in (0, 150, 300, 900)] == [0.0, 12.5, 25.0, 25.0]


def test_capacity_without_an_end_is_refused(compute):
    with pytest.raises(ValueError, match="no number of steps"):
        compute(AnnealedVAE())


@pytest.mark.parametrize("options", [{"capacity": -1.0}, {"gamma": float("nan")}])
def test_impossible_weights_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        AnnealedVAE(**options)
