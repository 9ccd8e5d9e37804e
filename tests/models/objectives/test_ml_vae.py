import pytest
import torch
from companions import batch_of, context, seeded, tiny_model

from unbraid.models.objectives import MLVAE

FACTORS = [
    torch.tensor([[0, 1], [2, 3], [1, 1], [0, 0]]),
    torch.tensor([[0, 2], [2, 3], [0, 0], [1, 0]]),
]


def transcribed(model, batch, beta, generator):
    """The loss, with the average in latents whose factors are equal."""
    images = [batch.images, batch.partner_images[0]]
    means = [model.encode(each).mean.clone() for each in images]
    variances = [model.encode(each).variance.clone() for each in images]
    for row in range(len(images[0])):
        for i in range(2):
            if FACTORS[0][row, i] == FACTORS[1][row, i]:
                m1, m2 = (float(mean[row, i]) for mean in means)
                v1, v2 = (float(variance[row, i]) for variance in variances)
                for mean, variance in zip(means, variances, strict=True):
                    mean[row, i] = (m1 * v2 + m2 * v1) / (v1 + v2)
                    variance[row, i] = 2 * v1 * v2 / (v1 + v2)
    mean, variance = torch.cat(means), torch.cat(variances)
    noise = torch.empty_like(mean).normal_(generator=generator)
    codes = mean + variance.sqrt() * noise
    error = (model.decoder(codes) - torch.cat(images)).square().sum(dim=1)
    kl = 0.5 * (mean**2 + variance - variance.log() - 1).sum(dim=1)
    return float((error + beta * kl).mean())


def test_loss_is_the_transcribed_one():
    model, batch = tiny_model(), batch_of(2, factors=FACTORS)
    loss = MLVAE(beta=3.0).loss(model, batch, context())
    with torch.no_grad():
        expected = transcribed(model, batch, 3.0, seeded())
    assert loss.total.item() == pytest.approx(expected)


def test_gradients_reach_every_parameter():
    model, batch = tiny_model(), batch_of(2, factors=FACTORS)
    MLVAE().loss(model, batch, context()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


def test_pairs_without_labels_are_refused():
    with pytest.raises(ValueError, match="MLVAE needs pairs with known factors"):
        MLVAE().loss(tiny_model(), batch_of(2), context())
