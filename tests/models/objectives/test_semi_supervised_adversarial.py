from dataclasses import dataclass
from typing import ClassVar

import pytest
import torch
from companions import batch_of, context, tiny_model
from torch import nn

from unbraid.data import Batch, Pairs
from unbraid.models import Loss
from unbraid.models.objectives import (
    AbstractAdversarialObjective,
    BetaVAE,
    SemiSupervised,
    SemiSupervisedAdversarial,
)

SIZES = (2, 4)
LABELS = torch.tensor([[1, 2], [0, 3], [1, 0], [0, 1]])
BATCH = batch_of(3, factors=[torch.zeros_like(LABELS), LABELS + 1, LABELS])


@dataclass(frozen=True, kw_only=True)
class Opposed(AbstractAdversarialObjective):
    """A line that rates codes, and needs a second image to do so."""

    least_batch: ClassVar[int] = 2

    def sampler(self):
        return Pairs()

    def build_extra(self, model):
        return nn.Linear(model.n_latents, 1).double()

    def loss(self, model, batch, context):
        assert len(batch.partner_images) == 1
        loss = BetaVAE().loss(model, batch, context)
        with torch.no_grad():
            weight = context.extra.weight.clone()
        rating = (model.encode(batch.images).mean @ weight.T).mean()
        return Loss(loss.total + rating, loss.terms, loss.kl_per_latent)

    def adversary_loss(self, model, batch, context):
        with torch.no_grad():
            codes = model.encode(batch.partner_images[0]).mean
        return Loss(context.extra(codes).square().mean())

    def adversary_optimizer(self, adversary):
        return torch.optim.Adam(adversary.parameters(), lr=0.5, betas=(0.5, 0.9))


def prepared(kind):
    model = tiny_model()
    objective = SemiSupervisedAdversarial(
        base=Opposed(), kind=kind, gamma=3.0, factor_sizes=SIZES
    )
    extra = objective.build_extra(model).double()
    return objective, model, extra


def test_total_is_the_bases_loss_and_the_weighted_term():
    objective, model, extra = prepared("l2")
    loss = objective.loss(model, BATCH, context(extra=extra))
    seen = Batch(images=BATCH.images, partner_images=BATCH.partner_images[:1])
    base = Opposed().loss(model, seen, context(extra=extra["base"]))
    term = extra["labels"](model.encode(BATCH.partner_images[-1]).mean, LABELS)
    assert loss.terms["supervised"].item() == pytest.approx(term.item())
    assert loss.total.item() == pytest.approx((base.total + 3.0 * term).item())


@pytest.mark.parametrize("kind", ["l2", "cross_entropy", "embedding"])
def test_model_and_second_network_learn_in_turns(kind):
    objective, model, extra = prepared(kind)
    loss = objective.loss(model, BATCH, context(extra=extra))
    loss.total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
    assert all(parameter.grad is None for parameter in extra.parameters())
    model.zero_grad(set_to_none=True)
    loss = objective.adversary_loss(model, BATCH, context(extra=extra))
    loss.total.backward()
    assert all(parameter.grad is None for parameter in model.parameters())
    assert all(parameter.grad.abs().sum() > 0 for parameter in extra.parameters())


@pytest.mark.parametrize("kind", ["l2", "cross_entropy"])
def test_the_bases_optimizer_has_all_that_is_learned(kind):
    objective, _, extra = prepared(kind)
    optimizer = objective.adversary_optimizer(extra)
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    assert held == {id(parameter) for parameter in extra.parameters()}
    assert all(group["lr"] == 0.5 for group in optimizer.param_groups)


def test_sampler_and_least_batch_are_the_bases():
    objective, _, _ = prepared("l2")
    assert objective.sampler().after == Pairs()
    assert objective.sampler().n_companions == 2
    assert objective.least_batch == 2
    assert SemiSupervised().least_batch == 1


def test_bases_of_the_other_kind_are_refused():
    with pytest.raises(ValueError, match="Use SemiSupervisedAdversarial"):
        SemiSupervised(base=Opposed())
    with pytest.raises(ValueError, match="Use SemiSupervised."):
        SemiSupervisedAdversarial(base=BetaVAE())
