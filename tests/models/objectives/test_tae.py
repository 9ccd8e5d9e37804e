import pytest
import torch
from companions import batch_of, context, tiny_model, transparent_model

from unbraid.data import Batch
from unbraid.models.objectives import AE, TAE, AdaTAE


def joined(batch):
    return Batch(images=torch.cat([batch.images, *batch.partner_images]))


def test_total_is_reconstruction_of_all_images_and_the_triplet_loss():
    model, batch = tiny_model(is_variational=False), batch_of(3)
    loss = TAE(alpha=2.0).loss(model, batch, context())
    plain = AE(scale="mean").loss(model, joined(batch), context())
    expected = plain.total + 2.0 * loss.terms["triplet"]
    assert loss.total.item() == pytest.approx(expected.item())


def test_triplet_loss_is_that_of_the_hand():
    rows = torch.tensor([[[0.0, 0.0]], [[1.0, 0.5]], [[-3.0, 0.0]]]).double()
    batch = Batch(images=rows[0], partner_images=(rows[1], rows[2]))
    model = transparent_model(2, is_variational=False)
    loss = TAE(margin=4.0).loss(model, batch, context())
    assert loss.terms["triplet"].item() == pytest.approx(4.0 + 1.5 - 3.0)


@pytest.mark.parametrize("objective", [TAE, AdaTAE])
def test_without_the_decoders_gradient_triplets_alone_teach_the_encoder(objective):
    model, batch = tiny_model(is_variational=False), batch_of(3)
    settings = objective(decoder_gradient=False).over(10)
    loss = settings.loss(model, batch, context())
    loss.terms["reconstruction"].backward()
    assert all(parameter.grad is None for parameter in model.encoder.parameters())
    assert all(p.grad.abs().sum() > 0 for p in model.decoder.parameters())


@pytest.mark.parametrize("objective", [TAE, AdaTAE])
def test_gradients_reach_every_parameter(objective):
    model, batch = tiny_model(is_variational=False), batch_of(3)
    settings = objective().over(10)
    settings.loss(model, batch, context()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
