"""Every objective learns from data of every shape, with the network chosen for it."""

import pytest
import torch
from objectives_to_test import make_objective

from unbraid.data import Batch
from unbraid.foundation import torch_generator
from unbraid.models import Bernoulli, KernelAugmented, build_model
from unbraid.models.networks import choose_network
from unbraid.models.objectives import (
    OBJECTIVES,
    AbstractAdversarialObjective,
    LossContext,
)

SHAPES = [
    (1, 8, 8),
    (3, 8, 8),
    (4, 16, 16),
    (1, 33, 17),
    (3, 64, 64),
    (3, 60, 80),
    (4, 128, 128),
    (5,),
    (500,),
]
_N_STEPS = 10


def structured(shape, n_companions):
    """Images made of three hidden numbers, and companions that share some of them."""
    generator = torch_generator(0, "images")
    n_pixels = torch.Size(shape).numel()
    basis = torch.randn(3, n_pixels, generator=generator)
    size = (1 + n_companions, 2 if n_pixels > 4096 else 4, 3)
    factors = torch.randint(0, 4, size, generator=generator)
    images = ((factors - 1.5) @ basis).sigmoid().unflatten(2, shape)
    return Batch(
        images=images[0],
        factors=factors[0],
        partner_images=tuple(images[1:]),
        partner_factors=tuple(factors[1:]),
    )


def losses_of_a_short_run(objective, shape, likelihood):
    """The loss before and after ten steps, of the same images with the same noise."""
    objective = objective.over(_N_STEPS)
    batch = structured(shape, objective.sampler().n_companions)
    model = build_model(
        objective.default_network() or choose_network("auto", shape),
        image_shape=shape,
        n_latents=4,
        likelihood=objective.default_likelihood() or likelihood,
        seed=0,
        is_variational=objective.is_variational,
    )
    extra = objective.build_extra(model)
    is_adversarial = isinstance(objective, AbstractAdversarialObjective)
    weights = list(model.parameters())
    if extra is not None and not is_adversarial:
        weights += list(extra.parameters())
    optimizer = torch.optim.Adam(weights, lr=1e-4)

    def context(step, *names):
        generator = torch_generator(0, *names)
        return LossContext(step=step, generator=generator, extra=extra)

    def loss(step):
        return objective.loss(model, batch, context(step, "noise")).total

    before = loss(_N_STEPS).item()
    adversary_optimizer = (
        objective.adversary_optimizer(extra) if is_adversarial else None
    )
    for step in range(_N_STEPS):
        optimizer.zero_grad()
        loss(step).backward()
        optimizer.step()
        if adversary_optimizer is not None:
            adversary_optimizer.zero_grad()
            adversary_context = context(step, "adversary", step)
            objective.adversary_loss(model, batch, adversary_context).total.backward()
            adversary_optimizer.step()
    return before, loss(_N_STEPS).item()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_ten_steps_improve_the_loss(name, shape):
    if name == "monet" and len(shape) == 1:
        with pytest.raises(ValueError, match="needs images"):
            losses_of_a_short_run(make_objective(name), shape, Bernoulli())
        return
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        before, after = losses_of_a_short_run(make_objective(name), shape, Bernoulli())
    assert after < before


@pytest.mark.parametrize("shape", [each for each in SHAPES if len(each) == 3], ids=str)
def test_ten_steps_improve_the_loss_through_a_kernel(shape):
    before, after = losses_of_a_short_run(
        make_objective("beta_vae"), shape, KernelAugmented()
    )
    assert after < before
