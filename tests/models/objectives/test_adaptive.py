import math

import pytest
import torch

from unbraid.models import DiagonalGaussian
from unbraid.models.objectives._adaptive import (
    latent_divergence,
    mean_posterior,
    product_posterior,
    share_latents,
    shared_latents,
)


def gaussian(means, variances):
    return DiagonalGaussian(
        torch.tensor(means, dtype=torch.float64),
        torch.tensor(variances, dtype=torch.float64).log(),
    )


FIRST = gaussian([[0.0, 1.0, 2.0], [0.0, 0.0, 0.0]], [[1.0, 4.0, 1.0], [1.0, 2.0, 8.0]])
SECOND = gaussian(
    [[2.0, 1.0, 3.0], [0.0, 1.0, 0.0]], [[3.0, 4.0, 1.0], [1.0, 2.0, 2.0]]
)


def kl(m1, v1, m2, v2):
    return 0.5 * ((v1 + (m1 - m2) ** 2) / v2 - 1.0 + math.log(v2 / v1))


def test_latents_below_the_middle_of_least_and_most_are_shared():
    deltas = torch.tensor([[0.0, 1.9, 4.0], [1.0, 2.0, 3.0]])
    # Middles 2 and 2; what lies on the middle is not shared.
    expected = torch.tensor([[True, True, False], [True, False, False]])
    assert torch.equal(shared_latents(deltas), expected)


def test_nothing_is_shared_at_strength_zero_and_all_but_the_most_at_one():
    deltas = torch.tensor([[0.3, 0.1, 0.7]])
    assert not shared_latents(deltas, 0.0).any()
    assert shared_latents(deltas, 1.0).tolist() == [[True, True, False]]


@pytest.mark.parametrize("strength", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_nothing_is_shared_when_all_latents_differ_equally(strength):
    deltas = torch.rand(1000, 1, generator=torch.Generator().manual_seed(0))
    assert not shared_latents(deltas.expand(-1, 3), strength).any()


def test_divergences_are_those_of_the_formula():
    one_sided = latent_divergence(FIRST, SECOND, "one_sided")
    symmetric = latent_divergence(FIRST, SECOND, "symmetric")
    there, back = kl(0.0, 1.0, 2.0, 3.0), kl(2.0, 3.0, 0.0, 1.0)
    assert float(one_sided[0, 0]) == pytest.approx(there)
    assert float(symmetric[0, 0]) == pytest.approx((there + back) / 2)
    assert float(symmetric[0, 1]) == pytest.approx(0.0, abs=1e-12)


def test_mean_posterior_has_mean_of_means_and_of_variances():
    average = mean_posterior(FIRST, SECOND)
    expected = torch.tensor([[1.0, 1.0, 2.5], [0.0, 0.5, 0.0]])
    torch.testing.assert_close(average.mean, expected.double())
    expected = torch.tensor([[2.0, 4.0, 1.0], [1.0, 2.0, 5.0]])
    torch.testing.assert_close(average.variance, expected.double())


def test_product_posterior_weighs_means_by_precision():
    average = product_posterior(FIRST, SECOND)
    # Variances 1 and 3 give 2 * 3 / 4; the mean is (0 / 1 + 2 / 3) * 1.5 / 2.
    expected = torch.tensor([[0.5, 1.0, 2.5], [0.0, 0.5, 0.0]])
    torch.testing.assert_close(average.mean, expected.double())
    expected = torch.tensor([[1.5, 4.0, 1.0], [1.0, 2.0, 3.2]])
    torch.testing.assert_close(average.variance, expected.double())


def test_averages_survive_extreme_variances():
    tiny = DiagonalGaussian(torch.ones(1, 1), torch.full((1, 1), -200.0))
    huge = DiagonalGaussian(torch.zeros(1, 1), torch.full((1, 1), 200.0))
    for average in (mean_posterior(tiny, huge), product_posterior(tiny, huge)):
        assert average.mean.isfinite().all()
        assert average.log_variance.isfinite().all()
    assert float(product_posterior(tiny, huge).mean) == 1.0


def test_only_shared_latents_become_equal():
    is_shared = torch.tensor([[True, False, True], [False, False, True]])
    common = mean_posterior(FIRST, SECOND)
    first, second = share_latents(FIRST, SECOND, is_shared, common)
    expected = torch.tensor([[1.0, 1.0, 2.5], [0.0, 0.0, 0.0]])
    torch.testing.assert_close(first.mean, expected.double())
    expected = torch.tensor([[1.0, 1.0, 2.5], [0.0, 1.0, 0.0]])
    torch.testing.assert_close(second.mean, expected.double())
    expected = torch.tensor([[2.0, 4.0, 1.0], [1.0, 2.0, 5.0]])
    torch.testing.assert_close(second.variance, expected.double())
