import math

import pytest
import torch
from companions import batch_of, context, seeded, tiny_model

from unbraid.models.objectives import TVAE, AdaTVAE, BetaVAE


def transcribed(model, batch, *, beta, alpha, margin, kind, p, generator):
    """Eq. 5.12 of the dissertation, in its scale, image by image."""
    triplet = [batch.images, *batch.partner_images]
    size, n_latents, n_pixels = len(batch.images), model.n_latents, 5
    noise = torch.empty(3 * size, n_latents).double().normal_(generator=generator)
    total = 0.0
    for row in range(size):
        means = []
        for k, images in enumerate(triplet):
            posterior = model.encode(images[row : row + 1])
            mean, variance = posterior.mean[0], posterior.variance[0]
            codes = mean + variance.sqrt() * noise[k * size + row]
            error = (model.decoder(codes[None])[0] - images[row]).square().sum()
            kl = 0.5 * (mean**2 + variance - variance.log() - 1).sum()
            total += float(error / n_pixels + beta * kl / n_latents) / 3
            means.append(mean.tolist())
        near, far = (
            sum(abs(a - b) ** p for a, b in zip(means[0], other, strict=True))
            ** (1 / p)
            for other in means[1:]
        )
        hard = max(0.0, margin + near - far)
        soft = math.log(1 + math.exp(near - far))
        total += alpha * (hard if kind == "hard" else soft)
    return total / size


@pytest.mark.parametrize("kind", ["hard", "soft"])
@pytest.mark.parametrize("p", [1, 2])
def test_loss_is_the_transcribed_one(kind, p):
    model, batch = tiny_model(), batch_of(3)
    objective = TVAE(beta=0.2, alpha=3.0, margin=0.1, margin_kind=kind, p=p)
    loss = objective.loss(model, batch, context())
    with torch.no_grad():
        expected = transcribed(
            model,
            batch,
            beta=0.2,
            alpha=3.0,
            margin=0.1,
            kind=kind,
            p=p,
            generator=seeded(),
        )
    assert loss.total.item() == pytest.approx(expected)


def test_without_weight_it_is_the_beta_vae_of_all_images():
    model, batch = tiny_model(), batch_of(3)
    joined = type(batch)(images=torch.cat([batch.images, *batch.partner_images]))
    loss = TVAE(alpha=0.0, beta=0.2).loss(model, batch, context())
    plain = BetaVAE(beta=0.2, scale="mean")
    expected = plain.loss(model, joined, context())
    assert loss.total.item() == pytest.approx(expected.total.item())


def test_it_is_the_adaptive_one_with_a_shared_weight_of_one():
    model, batch = tiny_model(), batch_of(3)
    plain = TVAE().loss(model, batch, context())
    adaptive = AdaTVAE(omega=1.0).loss(model, batch, context())
    assert plain.total.item() == adaptive.total.item()


def test_scale_leaves_the_triplet_loss_as_it_is():
    model, batch = tiny_model(), batch_of(3)
    loss = TVAE(scale="sum").loss(model, batch, context())
    terms = loss.terms
    expected = terms["reconstruction"] + 0.01 * terms["kl"] + terms["triplet"]
    assert loss.total.item() == pytest.approx(expected.item())


def test_without_the_decoders_gradient_and_prior_triplets_alone_teach_the_encoder():
    model, batch = tiny_model(), batch_of(3)
    objective = TVAE(beta=0.0, alpha=2.0, decoder_gradient=False)
    loss = objective.loss(model, batch, context())
    parameters = list(model.encoder.parameters())
    total = torch.autograd.grad(loss.total, parameters, retain_graph=True)
    triplet = torch.autograd.grad(loss.terms["triplet"], parameters)
    for mine, expected in zip(total, triplet, strict=True):
        torch.testing.assert_close(mine, 2.0 * expected)
