"""Gradients of every objective against finite differences."""

import pytest
import torch
from objectives_to_test import make_objective

from unbraid.data import BatchStream, XYSquares
from unbraid.foundation import torch_generator
from unbraid.models import Bernoulli, build_model
from unbraid.models.networks import Dense
from unbraid.models.objectives import (
    OBJECTIVES,
    AbstractAdversarialObjective,
    LossContext,
)

_STEP = 1e-6


def prepared(name):
    """An objective, a double precision model with smooth layers, and a batch."""
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    objective = make_objective(name).for_data(squares).over(10)
    stream = BatchStream(dataset=squares, size=5, sampler=objective.sampler())
    batch = stream.batch(0)
    batch = type(batch)(
        images=batch.images.double(),
        factors=batch.factors,
        partner_images=tuple(each.double() for each in batch.partner_images),
        partner_factors=batch.partner_factors,
    )
    model = build_model(
        objective.default_network() or Dense(widths=(6,)),
        image_shape=squares.image_shape,
        n_latents=4,
        likelihood=objective.default_likelihood() or Bernoulli(),
        seed=3,
        is_variational=objective.is_variational,
    ).double()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        extra = objective.build_extra(model)
    return objective, model, batch, extra if extra is None else extra.double()


def assert_slopes_agree(loss, weights):
    """Slope along random directions, from gradients and from two nearby values."""
    generator = torch_generator(0, "directions")
    for weight in weights:
        weight.grad = None
    loss().backward()
    for _ in range(3):
        directions = [
            torch.randn(weight.shape, generator=generator, dtype=weight.dtype)
            for weight in weights
        ]
        slope = sum(
            (weight.grad * direction).sum().item()
            for weight, direction in zip(weights, directions, strict=True)
        )
        values = []
        for sign in (1, -2, 1):
            with torch.no_grad():
                for weight, direction in zip(weights, directions, strict=True):
                    weight.add_(direction, alpha=sign * _STEP)
                values.append(loss().item())
        assert slope == pytest.approx(
            (values[0] - values[1]) / (2 * _STEP), rel=1e-4, abs=1e-5
        )


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_are_finite_differences(name):
    objective, model, batch, extra = prepared(name)

    def loss():
        context = LossContext(generator=torch_generator(0, "noise"), extra=extra)
        return objective.loss(model, batch, context).total

    weights = list(model.parameters())
    if extra is not None and not isinstance(objective, AbstractAdversarialObjective):
        weights += list(extra.parameters())
    assert_slopes_agree(loss, weights)


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, kind in OBJECTIVES.items()
        if issubclass(kind, AbstractAdversarialObjective)
    ],
)
def test_gradients_of_adversaries_are_finite_differences(name):
    objective, model, batch, extra = prepared(name)

    def loss():
        context = LossContext(generator=torch_generator(0, "noise"), extra=extra)
        return objective.adversary_loss(model, batch, context).total

    assert_slopes_agree(loss, list(extra.parameters()))
