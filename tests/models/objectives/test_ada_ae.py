import pytest
import torch
from companions import batch_of, context, tiny_model, transparent_model

from unbraid.data import Batch
from unbraid.models.objectives import AE, AdaAE


def test_shared_latents_are_decoded_from_their_mean():
    model = transparent_model(3, is_variational=False)
    first = torch.tensor([[0.0, 1.0, 5.0]]).double()
    second = torch.tensor([[0.2, 1.0, 9.0]]).double()
    batch = Batch(images=first, partner_images=(second,))
    loss = AdaAE().loss(model, batch, context())
    # Differences 0.2, 0 and 4: the last alone is above the middle.
    codes = torch.tensor([[0.1, 1.0, 5.0], [0.1, 1.0, 9.0]]).double()
    error = (model.decoder(codes) - torch.cat([first, second])).square().sum(dim=1)
    assert loss.total.item() == pytest.approx(error.mean().item())


def test_at_strength_zero_it_is_the_autoencoder_of_all_images():
    model, batch = tiny_model(is_variational=False), batch_of(2)
    all_images = Batch(images=torch.cat([batch.images, batch.partner_images[0]]))
    loss = AdaAE(eta=0.0).loss(model, batch, context())
    plain = AE().loss(model, all_images, context())
    assert loss.total.item() == pytest.approx(plain.total.item())


def test_gradients_reach_every_parameter():
    model = tiny_model(is_variational=False)
    AdaAE().loss(model, batch_of(2), context()).total.backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())
