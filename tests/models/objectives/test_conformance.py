"""The shipped conformance suite, over every objective that has a name."""

import dataclasses
from dataclasses import dataclass

import pytest
import torch
from objectives_to_test import make_objective
from torch import nn

from unbraid.data import XYObject
from unbraid.models import Loss
from unbraid.models.objectives import (
    OBJECTIVES,
    VAE,
    AbstractAdversarialObjective,
    AbstractObjective,
    FactorVAE,
)
from unbraid.testing import check_objective


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_conforms(name):
    check_objective(make_objective(name))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("factor_vae", {"permute": "second batch"}),
        ("beta_tc_vae", {"estimator": "stratified", "n_data": 100}),
        ("beta_tc_vae", {"alpha": 2.0, "gamma": 3.0}),
        ("dip_vae", {"kind": "i"}),
        ("info_vae", {"kernel": "imq", "alpha": 0.5}),
        ("annealed_vae", {"capacity": 5.0}),
    ],
)
def test_every_variant_conforms(name, options):
    check_objective(make_objective(name, **options))


def test_every_exported_objective_has_a_name():
    from unbraid.models import objectives

    exported = {
        kind
        for name in objectives.__all__
        if isinstance(kind := getattr(objectives, name), type)
        and issubclass(kind, AbstractObjective)
        and not name.startswith("Abstract")
    }
    assert exported == set(OBJECTIVES.values())


def broken(base, **changes):
    """A child of an objective that breaks one promise."""
    return dataclass(frozen=True, kw_only=True)(type("Broken", (base,), changes))


def unsure(self, model, batch, context):
    loss = VAE.loss(self, model, batch, context)
    return dataclasses.replace(loss, total=loss.total + torch.rand(()))


def infinite(self, model, batch, context):
    loss = VAE.loss(self, model, batch, context)
    return Loss(loss.total, {"odd": loss.total * float("inf")})


def per_image(self, model, batch, context):
    loss = VAE.loss(self, model, batch, context)
    return Loss(loss.total, {"odd": loss.total.expand(3)})


def without_encoder(self, model, batch, context):
    codes = model.encode(batch.images).sample(generator=context.generator).detach()
    return Loss(model.reconstruction_loss(batch.images, codes).mean())


def growing(self, model, batch, context):
    loss = VAE.loss(self, model, batch, context)
    return Loss(2 * loss.total.detach() - loss.total)


def teaching(self, model, batch, context):
    loss = VAE.loss(self, model, batch, context)
    with torch.no_grad():
        next(model.parameters()).add_(1e-3)
    return loss


def always_summed(self, model, reconstruction, latent):
    return reconstruction + latent


@pytest.mark.parametrize(
    ("changes", "promise"),
    [
        ({"loss": unsure}, "the same seed must give"),
        ({"loss": infinite}, "'odd' must be finite"),
        ({"loss": per_image}, "'odd' must be a scalar"),
        ({"loss": without_encoder}, "must have gradients"),
        ({"loss": growing}, "must decrease the loss"),
        ({"loss": teaching}, "must not change a network"),
        ({"combine_terms": always_summed}, "must divide"),
    ],
)
def test_a_broken_objective_is_told_what_it_breaks(changes, promise):
    with pytest.raises(AssertionError, match=promise):
        check_objective(broken(VAE, **changes)())


def leaking_loss(self, model, batch, context):
    codes = model.encode(batch.images).sample(generator=context.generator)
    return Loss(
        model.reconstruction_loss(batch.images, codes).mean()
        + context.extra(codes).sum()
    )


def leaking_adversary(self, model, batch, context):
    return Loss(context.extra(model.encode(batch.images).mean).square().sum())


@pytest.mark.parametrize(
    ("changes", "promise"),
    [
        ({"loss": leaking_loss}, "must not have gradients in the adversary"),
        ({"adversary_loss": leaking_adversary}, "must not have gradients in the model"),
    ],
)
def test_an_adversary_that_leaks_is_found(changes, promise):
    kind = broken(FactorVAE, **changes)
    assert issubclass(kind, AbstractAdversarialObjective)
    with pytest.raises(AssertionError, match=promise):
        check_objective(kind(discriminator_width=8, discriminator_depth=1))


def test_an_objective_that_is_not_frozen_is_found():
    class Loose(VAE):
        __setattr__ = object.__setattr__

    with pytest.raises(AssertionError, match="frozen"):
        check_objective(Loose())


def test_a_second_network_must_be_taught_along():
    @dataclass(frozen=True, kw_only=True)
    class Idle(VAE):
        def build_extra(self, model):
            return nn.Linear(2, 2)

    with pytest.raises(AssertionError, match="Linear.weight"):
        check_objective(Idle())


def test_an_objective_is_checked_on_the_data_that_it_is_given():
    seen = []

    class Noting(VAE):
        def for_data(self, dataset):
            seen.append(dataset.name)
            return super().for_data(dataset)

    check_objective(Noting(), dataset=XYObject(image_size=8, square_sizes=(2, 3)))
    assert seen == ["xy_object"]
