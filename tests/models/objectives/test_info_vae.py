import math

import pytest
import torch
from parameter_errors import refusal_of

from unbraid.foundation import torch_generator
from unbraid.models.objectives import VAE, InfoVAE
from unbraid.models.objectives._info_vae import mean_discrepancy


def slow_discrepancy(codes, draws, kernel, bandwidth):
    reach = 2 * codes.shape[1] * bandwidth**2

    def alike(a, b):
        apart = float(((a - b) ** 2).sum())
        return math.exp(-apart / reach) if kernel == "rbf" else reach / (reach + apart)

    n = len(codes)
    total = 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                within = alike(codes[i], codes[j]) + alike(draws[i], draws[j])
                total += within / (n * (n - 1))
            total -= 2 * alike(codes[i], draws[j]) / n**2
    return total


@pytest.mark.parametrize("kernel", ["rbf", "imq"])
@pytest.mark.parametrize("bandwidth", [0.3, 1.0])
def test_discrepancy_equals_a_literal_transcription(kernel, bandwidth):
    generator = torch_generator(0, "codes")
    codes, draws = torch.randn(2, 5, 3, generator=generator, dtype=torch.float64)
    got = mean_discrepancy(codes, draws, kernel=kernel, bandwidth=bandwidth)
    expected = slow_discrepancy(codes, draws, kernel, bandwidth)
    assert got.item() == pytest.approx(expected)


def test_discrepancy_of_gaussians_is_the_closed_form_on_average():
    """E exp(-(a - b)^2 / c) = (1 + 2 s / c)^(-1/2), s the variance of a - b over 2."""
    generator = torch_generator(0, "codes")
    values = []
    for _ in range(400):
        draws = torch.randn(20, 1, generator=generator, dtype=torch.float64)
        codes = 2.0 * torch.randn(20, 1, generator=generator, dtype=torch.float64)
        values.append(mean_discrepancy(codes, draws, kernel="rbf", bandwidth=1.0))
    reach = 2.0
    expected = sum(
        sign * (1 + 2 * variance / reach) ** -0.5
        for sign, variance in ((1, 4 + 4), (1, 1 + 1), (-2, 4 + 1))
    )
    values = torch.stack(values)
    error = values.std() / len(values) ** 0.5
    assert abs(values.mean() - expected) < 3 * error < 0.02


def test_weights_are_those_of_the_paper(compute):
    loss = compute(InfoVAE(alpha=0.25, lambda_prior=10.0))
    terms = loss.terms
    expected = (
        terms["reconstruction"] + 0.75 * terms["kl"] + 9.25 * terms["discrepancy"]
    )
    torch.testing.assert_close(loss.total, expected)


def test_with_alpha_zero_and_lambda_one_it_is_a_vae_exactly(compute):
    loss = compute(InfoVAE(alpha=0.0, lambda_prior=1.0))
    assert loss.total == compute(VAE()).total


def test_draws_from_the_prior_follow_the_sample_of_the_code(compute, posterior):
    generator = torch_generator(0, "noise")
    codes = posterior.sample(generator=generator)
    draws = torch.empty_like(codes).normal_(generator=generator)
    expected = mean_discrepancy(codes, draws, kernel="rbf", bandwidth=1.0)
    assert compute(InfoVAE()).terms["discrepancy"] == expected


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 1.5},
        {"alpha": -2.0, "lambda_prior": 2.0},
        {"kernel": "linear"},
        {"bandwidth": 0.0},
        {"lambda_prior": -1.0},
    ],
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        InfoVAE(**options)
