import math

import pytest
import torch
from torch import distributions

from unbraid.foundation import torch_generator
from unbraid.models import (
    LIKELIHOODS,
    Bernoulli,
    FeatureAugmented,
    Gaussian,
    Laplace,
    choose_likelihood,
)


@pytest.fixture
def images():
    return torch.rand(3, 1, 4, 4, generator=torch_generator(0, "images"))


@pytest.fixture
def output():
    return torch.randn(3, 1, 4, 4, generator=torch_generator(0, "output"))


def total(values):
    return values.flatten(1).sum(dim=1)


def test_bernoulli_is_the_log_probability_of_coins(images, output):
    coins = (images > 0.5).float()
    expected = -total(distributions.Bernoulli(logits=output).log_prob(coins))
    torch.testing.assert_close(Bernoulli().loss(coins, output), expected)


def test_bernoulli_takes_pixels_between_zero_and_one(images, output):
    chances = output.sigmoid()
    entropies = images * chances.log() + (1 - images) * (1 - chances).log()
    torch.testing.assert_close(Bernoulli().loss(images, output), -total(entropies))
    assert Bernoulli.needs_unit_range


def test_gaussian_is_the_log_density_up_to_a_constant(images, output):
    for variance in (0.5, 2.0):
        normal = distributions.Normal(output, math.sqrt(variance))
        constant = 16 * 0.5 * math.log(2 * math.pi * variance)
        expected = -total(normal.log_prob(images)) - constant
        loss = Gaussian(variance=variance).loss(images, output)
        torch.testing.assert_close(loss, expected)


def test_default_gaussian_is_the_plain_squared_error(images, output):
    expected = total((images - output).square())
    torch.testing.assert_close(Gaussian().loss(images, output), expected)


def test_laplace_is_the_log_density_up_to_a_constant(images, output):
    for scale in (1.0, 0.3):
        laplace = distributions.Laplace(output, scale)
        expected = -total(laplace.log_prob(images)) - 16 * math.log(2 * scale)
        loss = Laplace(scale=scale).loss(images, output)
        torch.testing.assert_close(loss, expected, rtol=1e-4, atol=1e-4)


def make_likelihood(name):
    if name == "feature_augmented":
        layer = torch.linspace(-1, 1, 18).reshape(2, 1, 3, 3), torch.zeros(2)
        return FeatureAugmented.from_layers([layer])
    return LIKELIHOODS[name]()


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_distance_is_the_loss_of_the_output_with_that_mean(name, images, output):
    likelihood = make_likelihood(name)
    distance = likelihood.distance(images, likelihood.mean(output))
    expected = likelihood.loss(images, output)
    torch.testing.assert_close(distance, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_an_image_is_nearest_to_itself(name, images):
    likelihood = make_likelihood(name)
    itself = likelihood.distance(images, images)
    assert itself.isfinite().all()
    assert (itself < likelihood.distance(images, 1.0 - images)).all()


def test_distance_of_black_from_white_is_finite():
    black, white = torch.zeros(1, 1, 2, 2), torch.ones(1, 1, 2, 2)
    distance = Bernoulli().distance(black, white).item()
    assert distance == pytest.approx(4 * -math.log(1e-6), rel=0.01)


@pytest.mark.parametrize("value", [0.0, -1.0, float("inf"), float("nan")])
def test_impossible_widths_are_refused(value):
    with pytest.raises(ValueError, match=f"variance must be .* got {value}"):
        Gaussian(variance=value)
    with pytest.raises(ValueError, match=f"scale must be .* got {value}"):
        Laplace(scale=value)


def test_names_that_nearly_fit_get_a_hint():
    with pytest.raises(ValueError, match="Did you mean 'gaussian'"):
        choose_likelihood("gaussian_")
    kept = Laplace(scale=2.0)
    assert choose_likelihood(kept) is kept
