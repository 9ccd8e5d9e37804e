import pytest
import torch
from companions import batch_of, context, tiny_model, transparent_model

from unbraid.data import Batch, Singles, Triplets
from unbraid.models.objectives import AdaTVAE


def triplet_batch(anchor, positive, negative):
    """One triplet of a transparent model, with log-variances zero."""
    rows = [
        torch.tensor([[*codes, *(0.0 for _ in codes)]], dtype=torch.float64)
        for codes in (anchor, positive, negative)
    ]
    for row in rows:
        row.requires_grad_()
    return Batch(images=rows[0], partner_images=(rows[1], rows[2]))


def triplet_term(objective, batch, n_latents=3):
    model = transparent_model(n_latents)
    return objective.loss(model, batch, context()).terms["triplet"]


EXAMPLE = ([0.0, 0.0, 0.0], [0.5, -0.5, 0.0], [0.1, -1.0, 2.0])


@pytest.mark.parametrize(
    ("eta", "expected"),
    # Differences 0.1, 1, 2: the threshold is 0.1, 1.05 or 2; shared latents count half.
    [(0.0, 10 + 1.0 - 3.1), (0.5, 10 + 1.0 - 2.55), (1.0, 10 + 1.0 - 2.55)],
)
def test_hard_triplet_loss_is_that_of_the_hand(eta, expected):
    objective = AdaTVAE(eta=eta, omega=0.5)
    assert triplet_term(objective, triplet_batch(*EXAMPLE)).item() == pytest.approx(
        expected
    )


def test_soft_triplet_loss_in_the_straight_line_is_that_of_the_hand():
    objective = AdaTVAE(eta=0.5, omega=0.5, margin_kind="soft", p=2)
    to_positive = (0.25 + 0.25) ** 0.5
    to_negative = (0.05**2 + 0.5**2 + 2.0**2) ** 0.5
    expected = torch.tensor(to_positive - to_negative).exp().log1p().item()
    term = triplet_term(objective, triplet_batch(*EXAMPLE))
    assert term.item() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("p", [1.5, 3])
def test_any_norm_is_that_of_equation_5_21(p):
    objective = AdaTVAE(eta=0.5, omega=0.5, p=p)
    # Differences 0.1, 1, 2: the first two are shared and count half.
    near = (0.5**p + 0.5**p) ** (1 / p)
    far = (0.05**p + 0.5**p + 2.0**p) ** (1 / p)
    term = triplet_term(objective, triplet_batch(*EXAMPLE))
    assert term.item() == pytest.approx(10 + near - far)


def test_gradients_of_the_triplet_loss_are_those_of_the_hand():
    batch = triplet_batch(*EXAMPLE)
    triplet_term(AdaTVAE(eta=0.5, omega=0.25), batch).backward()
    positive, negative = batch.partner_images
    # Towards the positive by the sign, from the negative by sign times weight.
    assert positive.grad[0, :3].tolist() == [1.0, -1.0, 0.0]
    assert negative.grad[0, :3].tolist() == [-0.25, 0.25, -1.0]
    assert batch.images.grad[0, :3].tolist() == [-1.0 + 0.25, 1.0 - 0.25, 1.0]


def test_a_triplet_beyond_the_margin_has_no_gradient():
    batch = triplet_batch([0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, 9.0, 9.0])
    term = triplet_term(AdaTVAE(eta=0.5, omega=0.5, margin=1.0), batch)
    term.backward()
    assert term.item() == 0.0
    assert batch.images.grad.abs().sum() == 0.0


def test_sharing_by_divergence_looks_at_variances():
    anchor = torch.tensor([[0.0, 0.0, 0.0, 0.0]]).double()
    negative = torch.tensor([[1.0, 1.1, -6.0, 0.0]]).double()
    batch = Batch(images=anchor, partner_images=(anchor.clone(), negative))
    by_distance = AdaTVAE(eta=0.5, omega=0.0, shared_by="distance")
    by_divergence = AdaTVAE(eta=0.5, omega=0.0, shared_by="kl")
    # The first latent differs less in its mean, but more in its spread.
    assert triplet_term(by_distance, batch, 2).item() == pytest.approx(10 - 1.1)
    assert triplet_term(by_divergence, batch, 2).item() == pytest.approx(10 - 1.0)


def test_total_is_the_weighted_sum_of_its_terms():
    model, batch = tiny_model(), batch_of(3)
    objective = AdaTVAE(beta=0.3, alpha=2.0, omega=0.7)
    loss = objective.loss(model, batch, context())
    terms = {name: term.item() for name, term in loss.terms.items()}
    expected = terms["reconstruction"] / 5 + 0.3 * terms["kl"] / 3
    assert loss.total.item() == pytest.approx(expected + 2.0 * terms["triplet"])


def test_first_terms_are_means_over_the_three_images():
    model, batch = tiny_model(), batch_of(3)
    loss = AdaTVAE(omega=1.0).loss(model, batch, context())
    images = (batch.images, *batch.partner_images)
    kls = [model.encode(each).kl_to_prior().sum(dim=1).mean() for each in images]
    assert loss.terms["kl"].item() == pytest.approx(sum(kls).item() / 3)


@pytest.mark.parametrize(
    ("name", "omegas", "etas"),
    [
        ("threshold", (0.5, 0.5), (0.0, 0.5)),
        ("weight_weak", (1.0, 0.5), (0.5, 0.5)),
        ("weight_strong", (1.0, 0.0), (0.5, 0.5)),
        ("both_weak", (1.0, 0.5), (0.0, 0.5)),
        ("both_strong", (1.0, 0.0), (0.0, 0.5)),
    ],
)
def test_schedules_go_over_the_whole_run(name, omegas, etas):
    objective = AdaTVAE.scheduled(name, beta=0.5).over(1000)
    assert objective.beta == 0.5
    for step, omega, eta in zip((0, 1000), omegas, etas, strict=True):
        assert context(step).value(objective.omega) == omega
        assert context(step).value(objective.eta) == eta


def test_default_is_the_second_schedule():
    assert AdaTVAE() == AdaTVAE.scheduled("weight_weak")


def test_without_the_decoders_gradient_reconstruction_teaches_the_decoder_only():
    model, batch = tiny_model(), batch_of(3)
    objective = AdaTVAE(omega=0.5, decoder_gradient=False)
    loss = objective.loss(model, batch, context())
    loss.terms["reconstruction"].backward()
    assert all(parameter.grad is None for parameter in model.encoder.parameters())
    assert all(p.grad.abs().sum() > 0 for p in model.decoder.parameters())


def test_gradients_reach_every_parameter():
    model, batch = tiny_model(), batch_of(3)
    objective = AdaTVAE(omega=0.5)
    objective.loss(model, batch, context()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_loss_without_labels_needs_single_images_only():
    assert AdaTVAE(triplets="perceived").sampler() == Singles()
    assert AdaTVAE(triplets="l1").sampler() == Triplets(distance="l1")
    objective = AdaTVAE(triplets="perceived", n_triplets=50, omega=0.5)
    loss = objective.loss(tiny_model(), batch_of(1, size=6), context())
    assert loss.terms["triplet"].item() > 0


def test_settings_out_of_range_are_refused():
    with pytest.raises(ValueError, match="eta must be between 0 and 1, got 1.5"):
        AdaTVAE(eta=1.5)
    with pytest.raises(ValueError, match="p must be at least 1, got 0.5"):
        AdaTVAE(p=0.5)
    with pytest.raises(ValueError, match="n_triplets must be at least 1, got 0"):
        AdaTVAE(n_triplets=0)
    with pytest.raises(ValueError, match="name must be 'threshold', .* got 'fast'"):
        AdaTVAE.scheduled("fast")
