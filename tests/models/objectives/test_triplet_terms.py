import math

import pytest
import torch

from unbraid.models.objectives._triplet_terms import (
    latent_distance,
    mean_of_kept,
    triplet_loss,
)


def test_distances_are_those_of_the_hand():
    first = torch.tensor([[0.0, 3.0]])
    second = torch.tensor([[4.0, 0.0]])
    assert latent_distance(first, second, 1).item() == 7.0
    assert latent_distance(first, second, 2).item() == 5.0
    cubic = latent_distance(first, second, 3).item()
    assert cubic == pytest.approx((27 + 64) ** (1 / 3))


def test_a_large_order_is_almost_the_largest_difference():
    codes = torch.tensor([[30.0, -29.0, 1.0]], requires_grad=True)
    # 30^90 is too large for single precision.
    distance = latent_distance(codes, torch.zeros(1, 3), 90)
    distance.sum().backward()
    assert distance.item() == pytest.approx(30 * (1 + (29 / 30) ** 90) ** (1 / 90))
    share = 1 / (1 + (29 / 30) ** 90)
    expected = [share ** (89 / 90), -((29 / 30) ** 89) * share ** (89 / 90), 0.0]
    assert codes.grad[0].tolist() == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("degree", [1, 1.5, 2, 3.5])
def test_equal_codes_have_distance_zero_and_a_finite_gradient(degree):
    codes = torch.ones(1, 3, requires_grad=True)
    distance = latent_distance(codes, torch.ones(1, 3), degree)
    distance.sum().backward()
    assert distance.item() == 0.0
    assert codes.grad.abs().sum() == 0.0


def test_losses_are_those_of_the_equations():
    near, far = torch.tensor([1.0, 1.0]), torch.tensor([1.5, 5.0])
    hard = triplet_loss(near, far, kind="hard", margin=2.0)
    soft = triplet_loss(near, far, kind="soft", margin=2.0)
    assert hard.tolist() == [1.5, 0.0]
    expected = [math.log(1 + math.exp(-0.5)), math.log(1 + math.exp(-4.0))]
    assert soft.tolist() == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("degree", [1, 1.5, 2, 3.5])
def test_gradients_agree_with_finite_differences(kind, degree):
    generator = torch.Generator().manual_seed(0)
    codes = torch.randn(3, 4, 3, generator=generator, dtype=torch.float64)

    def loss(anchors, positives, negatives):
        return triplet_loss(
            latent_distance(anchors, positives, degree),
            latent_distance(anchors, negatives, degree),
            kind=kind,
            margin=1.0,
        )

    assert torch.autograd.gradcheck(loss, tuple(c.requires_grad_() for c in codes))


def test_mean_is_of_those_that_are_kept():
    values = torch.tensor([1.0, 2.0, float("nan")])
    assert mean_of_kept(values, torch.tensor([True, True, False])).item() == 1.5
    assert mean_of_kept(values, torch.tensor([False] * 3)).item() == 0.0
