import pytest
import torch
from torch.distributions import Normal, kl_divergence

from unbraid.foundation import torch_generator
from unbraid.models import DiagonalGaussian, PointMass


def random_posterior(name, n=50):
    generator = torch_generator(0, name)
    numbers = torch.randn(2, n, 3, generator=generator, dtype=torch.float64)
    return DiagonalGaussian(*numbers)


def as_normal(posterior):
    return Normal(posterior.mean, posterior.variance.sqrt())


def test_divergence_from_the_prior_is_torchs():
    posterior = random_posterior("first")
    expected = kl_divergence(as_normal(posterior), Normal(0.0, 1.0))
    torch.testing.assert_close(posterior.kl_to_prior(), expected)


def test_divergence_from_another_is_torchs():
    first, second = random_posterior("first"), random_posterior("second")
    expected = kl_divergence(as_normal(first), as_normal(second))
    torch.testing.assert_close(first.kl_to(second), expected)
    assert first.kl_to(first).abs().max() < 1e-15


def test_log_density_is_torchs_also_between_all_pairs():
    posterior = random_posterior("first", n=5)
    codes = random_posterior("second", n=4).mean
    expected = as_normal(posterior).log_prob(codes[:, None])
    torch.testing.assert_close(posterior.log_density(codes[:, None]), expected)


def test_samples_have_the_mean_and_the_variance():
    mean = torch.tensor([[1.0, -2.0]]).expand(100_000, 2)
    log_variance = torch.tensor([[0.25, 4.0]]).log().expand(100_000, 2)
    codes = DiagonalGaussian(mean, log_variance).sample(
        generator=torch_generator(0, "codes")
    )
    assert codes.mean(dim=0).tolist() == pytest.approx([1.0, -2.0], abs=0.03)
    assert codes.var(dim=0).tolist() == pytest.approx([0.25, 4.0], rel=0.03)
    correlation = torch.corrcoef(codes.T)[0, 1]
    assert correlation.abs() < 0.02


def test_sampling_is_differentiable_in_both_parts():
    mean = torch.zeros(4, 2, requires_grad=True)
    log_variance = torch.zeros(4, 2, requires_grad=True)
    posterior = DiagonalGaussian(mean, log_variance)
    codes = posterior.sample(generator=torch_generator(0, "codes"))
    codes.sum().backward()
    assert (mean.grad == 1.0).all()
    torch.testing.assert_close(log_variance.grad, 0.5 * codes.detach())


def test_same_generator_same_sample_and_torchs_own_is_not_touched():
    posterior = random_posterior("first")
    state = torch.get_rng_state()
    first, again, other = (
        posterior.sample(generator=torch_generator(seed, "codes")) for seed in (0, 0, 1)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(state, torch.get_rng_state())


def test_a_point_mass_is_its_own_sample():
    codes = torch.ones(2, 3)
    assert PointMass(codes).sample(generator=torch_generator(0, "codes")) is codes
