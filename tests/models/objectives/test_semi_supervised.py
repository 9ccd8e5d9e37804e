import dataclasses

import pytest
import torch
from companions import batch_of, context, tiny_model

from unbraid.data import Batch, LabeledRows, XYSquares
from unbraid.models import Linear
from unbraid.models.objectives import AE, BetaVAE, SemiSupervised
from unbraid.training import fit

SIZES = (2, 4)
LABELS = torch.tensor([[1, 2], [0, 3], [1, 0], [0, 1]])
BATCH = batch_of(2, factors=[torch.zeros_like(LABELS), LABELS])
KINDS = ["l2", "l2_sigmoid", "cross_entropy", "covariance", "embedding"]


@pytest.mark.parametrize("kind", KINDS)
def test_total_is_the_bases_loss_and_the_weighted_term(kind):
    model = tiny_model()
    objective = SemiSupervised(
        base=BetaVAE(beta=2.0), kind=kind, gamma=3.0, factor_sizes=SIZES
    )
    extra = objective.build_extra(model).double()
    loss = objective.loss(model, BATCH, context(extra=extra))
    alone = Batch(images=BATCH.images)
    base = BetaVAE(beta=2.0).loss(model, alone, context())
    codes = model.encode(BATCH.partner_images[0]).mean
    term = extra["labels"](codes, LABELS)
    assert loss.terms["supervised"].item() == pytest.approx(term.item())
    expected = base.total + 3.0 * term
    assert loss.total.item() == pytest.approx(expected.item())
    assert torch.equal(loss.kl_per_latent, base.kl_per_latent)


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_reach_model_and_term(kind):
    model = tiny_model()
    objective = SemiSupervised(kind=kind, factor_sizes=SIZES)
    extra = objective.build_extra(model).double()
    loss = objective.loss(model, BATCH, context(extra=extra))
    loss.total.backward()
    for parameter in (*model.parameters(), *extra.parameters()):
        assert parameter.grad.abs().sum() > 0


def test_labels_of_other_images_make_no_difference():
    model = tiny_model()
    objective = SemiSupervised(factor_sizes=SIZES)
    extra = objective.build_extra(model)
    other = dataclasses.replace(BATCH, factors=LABELS + 1)
    totals = [
        objective.loss(model, batch, context(extra=extra)).total
        for batch in (BATCH, other)
    ]
    assert totals[0] == totals[1]


def test_weight_may_set_in_at_a_step():
    gamma = Linear(start=0.0, end=5.0, steps=1, first_step=100)
    objective = SemiSupervised(gamma=gamma)
    weights = [context(step).value(objective.gamma) for step in (0, 100, 101, 500)]
    assert weights == [0.0, 0.0, 5.0, 5.0]


def test_scale_is_that_of_the_whole_loss():
    objective = SemiSupervised(base=BetaVAE(), scale="mean")
    assert objective.base.scale == "mean"
    with pytest.raises(
        ValueError, match="scale must be 'mean', as that of base, got 'sum'"
    ):
        SemiSupervised(base=BetaVAE(scale="mean"))


def test_sizes_come_from_the_data_and_labeled_images_from_the_sampler():
    squares = XYSquares(image_size=8, square_size=1, n_squares=1)
    objective = SemiSupervised(n_labels=7, label_seed=3).for_data(squares)
    assert objective.factor_sizes == (8, 8)
    assert objective.sampler() == LabeledRows(n_labels=7, seed=3)


def test_fit_learns_to_hold_factors_in_their_latents():
    squares = XYSquares(image_size=8, square_size=2, n_squares=1)
    objective = SemiSupervised(n_labels=9, gamma=100.0)
    run = fit(
        objective, squares, steps=60, n_latents=3, learning_rate=3e-3, log_every=20
    )
    assert run.spec.objective.factor_sizes == (4, 4)
    assert run.history[-1]["supervised"] < run.history[0]["supervised"]


def test_a_base_with_labels_or_without_prior_is_refused():
    with pytest.raises(ValueError, match="base must be a variational .* got AE"):
        SemiSupervised(base=AE())
    with pytest.raises(ValueError, match="base must be .* without labels, got Semi"):
        SemiSupervised(base=SemiSupervised())


def test_missing_sizes_latents_and_labels_are_refused():
    with pytest.raises(ValueError, match="factor_sizes is empty"):
        SemiSupervised().build_extra(tiny_model())
    objective = SemiSupervised(factor_sizes=(2, 2, 2, 2))
    with pytest.raises(ValueError, match="each of the 4 factors, got 3 latents"):
        objective.build_extra(tiny_model())
    with pytest.raises(ValueError, match="needs a batch with labeled images, got none"):
        SemiSupervised().loss(tiny_model(), batch_of(1), context())
