import itertools
import math

import pytest
import torch
from parameter_errors import refusal_of

from unbraid.data import XYSquares
from unbraid.foundation import torch_generator
from unbraid.models import DiagonalGaussian
from unbraid.models.objectives import VAE, BetaTCVAE
from unbraid.models.objectives._beta_tc_vae import _log_weights, decompose_divergence

ESTIMATORS = [
    {"estimator": "weighted"},
    {"estimator": "weighted", "n_data": 50},
    {"estimator": "stratified", "n_data": 50},
]


@pytest.fixture
def sampled(posterior):
    codes = posterior.sample(generator=torch_generator(0, "noise"))
    return posterior, codes


@pytest.mark.parametrize("options", ESTIMATORS)
def test_parts_add_up_to_the_sampled_divergence(sampled, options):
    posterior, codes = sampled
    parts = decompose_divergence(posterior, codes, **options)
    normal = torch.distributions.Normal
    own = normal(posterior.mean, posterior.variance.sqrt()).log_prob(codes)
    prior = normal(0.0, 1.0).log_prob(codes)
    sampled_kl = (own - prior).sum(dim=1).mean()
    torch.testing.assert_close(sum(parts.values()), sampled_kl)


def slow_parts(posterior, codes, weights):
    """Appendix C, one number at a time."""
    n, n_latents = codes.shape
    sums = [0.0, 0.0, 0.0]
    for i in range(n):
        joint, single = 0.0, [0.0] * n_latents
        for k in range(n):
            product = 1.0
            for j in range(n_latents):
                variance = posterior.variance[k, j].item()
                apart = (codes[i, j] - posterior.mean[k, j]).item()
                density = math.exp(-0.5 * apart**2 / variance)
                density /= math.sqrt(2 * math.pi * variance)
                product *= density
                single[j] += weights[i][k] * density
            joint += weights[i][k] * product
        own = posterior.log_density(codes)[i].sum().item()
        prior = sum(
            -0.5 * code**2 - 0.5 * math.log(2 * math.pi) for code in codes[i].tolist()
        )
        singles = sum(map(math.log, single))
        sums[0] += own - math.log(joint)
        sums[1] += math.log(joint) - singles
        sums[2] += singles - prior
    return [each / n for each in sums]


@pytest.mark.parametrize(
    ("options", "weight"),
    [
        (ESTIMATORS[0], lambda i, k: 1 / 6),
        (ESTIMATORS[1], lambda i, k: 1 / (6 * 50)),
        (
            ESTIMATORS[2],
            lambda i, k: (
                1 / 50 if k == i else (50 - 5) / (50 * 5) if k == (i + 1) % 6 else 1 / 5
            ),
        ),
    ],
)
def test_parts_equal_a_literal_transcription(sampled, options, weight):
    posterior, codes = sampled
    weights = [[weight(i, k) for k in range(6)] for i in range(6)]
    parts = decompose_divergence(posterior, codes, **options)
    expected = slow_parts(posterior, codes, weights)
    assert [part.item() for part in parts.values()] == pytest.approx(expected)


def autograd_parts(mean, log_variance, codes, options):
    """The formulas as they stand, differentiated by autograd."""
    posterior = DiagonalGaussian(mean, log_variance)
    densities = posterior.log_density(codes[:, None])
    weights = _log_weights(codes, options["estimator"], options.get("n_data"))
    weights = weights.expand(len(codes), len(codes))
    joint = (densities.sum(dim=2) + weights).logsumexp(dim=1)
    single = (densities + weights[:, :, None]).logsumexp(dim=1).sum(dim=1)
    own = posterior.log_density(codes).sum(dim=1)
    prior = torch.distributions.Normal(0.0, 1.0).log_prob(codes).sum(dim=1)
    return torch.stack(
        [(own - joint).mean(), (joint - single).mean(), (single - prior).mean()]
    )


def fast_parts(mean, log_variance, codes, options):
    posterior = DiagonalGaussian(mean, log_variance)
    parts = decompose_divergence(posterior, codes, **options)
    return torch.stack(list(parts.values()))


def random_inputs(n=7, n_latents=4, dtype=torch.float64, shift=0.0):
    """Means, log-variances and codes that do not come from the means."""
    draws = torch.randn(
        3, n, n_latents, generator=torch_generator(2, "inputs"), dtype=torch.float64
    )
    mean, log_variance, noise = draws.to(dtype)
    codes = mean + (0.5 * (log_variance + shift)).exp() * noise
    inputs = (mean, log_variance + shift, codes)
    return [each.clone().requires_grad_() for each in inputs]


@pytest.mark.parametrize("options", ESTIMATORS)
def test_gradients_are_the_limits_of_differences(options):
    def parts(*inputs):
        return fast_parts(*inputs, options)

    assert torch.autograd.gradcheck(parts, random_inputs())


# The last are sharper than trained models get: a standard deviation of 0.0025.
@pytest.mark.parametrize("shift", [0.0, -4.0, -12.0])
@pytest.mark.parametrize("options", ESTIMATORS)
def test_single_precision_agrees_with_autograd_in_double(options, shift):
    weights = torch.tensor([0.5, 3.0, -0.25])
    inputs = random_inputs(n=40, dtype=torch.float32, shift=shift)
    exact = [each.detach().double().requires_grad_() for each in inputs]
    got, expected = fast_parts(*inputs, options), autograd_parts(*exact, options)
    torch.testing.assert_close(got.double(), expected, rtol=1e-5, atol=1e-4)
    gradients = torch.autograd.grad(got @ weights, inputs)
    references = torch.autograd.grad(expected @ weights.double(), exact)
    for gradient, reference in zip(gradients, references, strict=True):
        scale = reference.abs().max()
        apart = (gradient - reference).abs().max() / scale
        assert apart < 1e-5


def test_gradients_can_be_taken_twice_from_the_same_parts():
    inputs = random_inputs()
    total = fast_parts(*inputs, ESTIMATORS[0]).sum()
    first = torch.autograd.grad(total, inputs, retain_graph=True)
    second = torch.autograd.grad(total, inputs)
    torch.testing.assert_close(first, second)


def gaussian_cloud(n=2000, noise=0.4):
    """Posteriors whose means are drawn from a correlated normal distribution.

    All codes together then have the covariance of the means plus the noise.
    """
    generator = torch_generator(1, "cloud")
    mixing = torch.tensor([[0.9, 0.0], [0.8, 0.3]], dtype=torch.float64)
    draws = torch.randn(n, 2, generator=generator, dtype=torch.float64)
    posterior = DiagonalGaussian(
        draws @ mixing.T, torch.full((n, 2), 2 * math.log(noise), dtype=torch.float64)
    )
    covariance = mixing @ mixing.T + noise**2 * torch.eye(2)
    codes = posterior.sample(generator=generator)
    correlation = -0.5 * math.log(covariance.det() / covariance.diagonal().prod())
    information = 0.5 * math.log(covariance.det() / noise**4)
    variances = covariance.diagonal()
    single = 0.5 * (variances - variances.log() - 1.0).sum().item()
    return posterior, codes, [information, correlation, single]


@pytest.mark.parametrize(
    "options",
    [{"estimator": "weighted"}, {"estimator": "stratified", "n_data": 2000}],
    ids=["weighted", "stratified"],
)
def test_parts_approach_those_of_a_known_gaussian(options):
    posterior, codes, expected = gaussian_cloud()
    assert expected[1] > 0.4  # far from independent
    parts = decompose_divergence(posterior, codes, **options)
    got = [part.item() for part in parts.values()]
    assert got == pytest.approx(expected, abs=0.05)


def test_number_of_images_moves_the_weighted_parts_by_constants(sampled):
    posterior, codes = sampled
    without = decompose_divergence(posterior, codes)
    given = decompose_divergence(posterior, codes, n_data=50)
    shift = [(given[name] - without[name]).item() for name in given]
    assert shift == pytest.approx([math.log(50), 2 * math.log(50), -3 * math.log(50)])


def test_stratified_density_is_right_on_average_over_all_batches():
    """A code's own image and every ordered choice of others, from 5 images."""
    densities = torch.tensor([0.3, 1.1, 0.2, 0.7, 2.5], dtype=torch.float64)
    weights = _log_weights(torch.zeros(3, 1).double(), "stratified", 5).exp()
    estimates = [
        weights[0] @ densities[[0, *others]]
        for others in itertools.permutations(range(1, 5), 2)
    ]
    torch.testing.assert_close(torch.stack(estimates).mean(), densities.mean())


@pytest.mark.parametrize("n", [2, 3, 6])
def test_stratified_weights_of_every_code_sum_to_one(n):
    sums = _log_weights(torch.zeros(n, 1).double(), "stratified", 50).exp().sum(dim=1)
    torch.testing.assert_close(sums, torch.ones(n, dtype=torch.float64))


@pytest.mark.parametrize("options", ESTIMATORS)
def test_with_all_weights_one_it_is_a_vae_exactly(compute, options):
    loss = compute(BetaTCVAE(alpha=1.0, beta=1.0, gamma=1.0, **options))
    assert loss.total == compute(VAE()).total


def test_every_part_is_weighted_by_its_own_weight(compute):
    loss = compute(BetaTCVAE(alpha=2.0, beta=6.0, gamma=0.5))
    terms = loss.terms
    expected = compute(VAE()).total + terms["mutual_information"]
    expected = expected + 5.0 * terms["total_correlation"]
    expected = expected - 0.5 * terms["dimension_wise_kl"]
    torch.testing.assert_close(loss.total, expected)


def test_mutual_information_is_zero_when_all_images_have_one_posterior():
    posterior = DiagonalGaussian(torch.ones(6, 2), torch.zeros(6, 2))
    codes = posterior.sample(generator=torch_generator(0, "noise"))
    information = decompose_divergence(posterior, codes)["mutual_information"]
    assert information.item() == pytest.approx(0.0, abs=1e-6)


def test_mutual_information_tells_images_apart_when_their_posteriors_are():
    means = 100.0 * torch.arange(6.0)[:, None].expand(6, 2)
    posterior = DiagonalGaussian(means, torch.zeros(6, 2))
    codes = posterior.sample(generator=torch_generator(0, "noise"))
    information = decompose_divergence(posterior, codes)["mutual_information"]
    assert information.item() == pytest.approx(math.log(6))


@pytest.mark.parametrize(
    "options",
    [
        {"beta": -1.0},
        {"estimator": "exact"},
        {"n_data": 0},
    ],
)
def test_impossible_settings_are_refused(options):
    with pytest.raises(ValueError, match=refusal_of(options)):
        BetaTCVAE(**options)


def test_the_stratified_estimator_asks_for_the_number_of_images(compute):
    objective = BetaTCVAE(estimator="stratified")
    with pytest.raises(ValueError, match="got None"):
        compute(objective)
    images = XYSquares(image_size=8, square_size=1, n_squares=1)
    assert objective.for_data(images).n_data == 64


def test_fewer_images_than_the_batch_are_refused(compute):
    with pytest.raises(ValueError, match="at least the batch size 6"):
        compute(BetaTCVAE(estimator="stratified", n_data=5))
