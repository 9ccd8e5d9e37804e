import dataclasses

import pytest
import torch
from torch import nn

from unbraid.foundation import from_plain, to_plain, torch_generator
from unbraid.models import RECORDS
from unbraid.models.objectives import DFCVAE, VAE


class Layers(nn.Module):
    """Three layers of features, of different sizes."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 4).double()
        self.second = nn.Linear(4, 2).double()

    def forward(self, images):
        first = self.first(images).tanh()
        return [images, first, self.second(first)]


@pytest.fixture
def features():
    return Layers().eval()


def pictures_of(model, batch):
    posterior = model.encode(batch.images)
    return model.decode(posterior.sample(generator=torch_generator(0, "noise")))


def test_distance_is_half_the_mean_square_of_every_chosen_layer(
    compute, model, batch, features
):
    loss = compute(DFCVAE(features=features, layers=(0, 2), weights=(3.0, 7.0)))
    images, pictures = features(batch.images), features(pictures_of(model, batch))
    first = (images[0] - pictures[0]).square().sum(dim=1).mean() / (2 * 5)
    last = (images[2] - pictures[2]).square().sum(dim=1).mean() / (2 * 2)
    expected = 3.0 * first + 7.0 * last
    torch.testing.assert_close(loss.terms["reconstruction"], expected)
    torch.testing.assert_close(loss.total, expected + compute(VAE()).terms["kl"])


def test_one_tensor_is_one_layer_and_counts_one_half(compute, model, batch):
    loss = compute(DFCVAE(features=nn.Identity().eval(), beta=0.0))
    apart = batch.images - pictures_of(model, batch)
    torch.testing.assert_close(loss.total, 0.25 * apart.square().mean())


def test_all_layers_count_when_none_are_chosen(compute, features):
    alone = [compute(DFCVAE(features=features, layers=(i,))) for i in range(3)]
    expected = sum(loss.terms["reconstruction"] for loss in alone)
    together = compute(DFCVAE(features=features)).terms["reconstruction"]
    torch.testing.assert_close(together, expected)


def test_features_get_no_gradients_and_the_model_does(compute, model, features):
    compute(DFCVAE(features=features)).total.backward()
    assert all(weight.grad is None for weight in features.parameters())
    assert all(weight.grad.any() for weight in model.parameters())


def test_settings_keep_the_name_of_the_network_and_ask_for_it(compute, features):
    plain = to_plain(DFCVAE(features=features, layers=(1,)), RECORDS)
    assert plain["features"] == "Layers"
    read = from_plain(plain, RECORDS)
    with pytest.raises(ValueError, match="only the name 'Layers'"):
        compute(read)
    again = dataclasses.replace(read, features=features)
    assert again == DFCVAE(features=features, layers=(1,))


def test_impossible_settings_are_refused(compute, features):
    with pytest.raises(ValueError, match="features must be a network .* got None"):
        DFCVAE()
    with pytest.raises(ValueError, match="evaluation mode"):
        DFCVAE(features=Layers())
    with pytest.raises(ValueError, match=r"weights\[0\] must be at least 0, got -1\.0"):
        DFCVAE(features=features, weights=(-1.0,))
    with pytest.raises(ValueError, match="among the 3"):
        compute(DFCVAE(features=features, layers=(3,)))
    with pytest.raises(
        ValueError, match=r"weights must have 3 elements, got \(1\.0,\)"
    ):
        compute(DFCVAE(features=features, weights=(1.0,)))
