import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from unbraid.foundation import CheckpointFormatError
from unbraid.models import Gaussian
from unbraid.models.networks import AbstractNetwork, Dense
from unbraid.models.objectives import DFCVAE, SemiSupervised


def features(scale):
    layers = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    nn.init.constant_(layers[1].weight, scale)
    nn.init.zeros_(layers[1].bias)
    return layers.eval()


class Silent(AbstractNetwork):
    """Says nothing of its settings, as a class that is no dataclass does."""

    def __init__(self, width):
        self._width = width

    def encoder(self, image_shape, n_outputs):
        return Dense(widths=(self._width,)).encoder(image_shape, n_outputs)

    def decoder(self, image_shape, n_latents):
        return Dense(widths=(self._width,)).decoder(image_shape, n_latents)


class Pretrained(Silent):
    """Begins with layers that it was given."""

    def __init__(self, layers):
        super().__init__(4)
        self._layers = layers

    def encoder(self, image_shape, n_outputs):
        return nn.Sequential(self._layers, nn.Linear(2, n_outputs))


@dataclasses.dataclass(frozen=True, kw_only=True)
class Weighted(Gaussian):
    """Pixels count by weights that are too many to be printed."""

    weights: np.ndarray = dataclasses.field(default=None, repr=False)


@pytest.mark.parametrize(
    ("name", "one", "same", "other"),
    [
        (
            "objective",
            *(DFCVAE(features=features(scale)) for scale in (1.0, 1.0, 2.0)),
        ),
        (
            "objective",
            *(
                SemiSupervised(base=DFCVAE(features=features(scale)), n_labels=5)
                for scale in (1.0, 1.0, 2.0)
            ),
        ),
        ("network", Silent(4), Silent(4), Silent(5)),
        ("network", *(Pretrained(features(scale)) for scale in (1.0, 1.0, 2.0))),
        ("likelihood", *(Weighted(weights=np.full(64, w)) for w in (1.0, 1.0, 2.0))),
    ],
    ids=["features", "features of a base", "layers", "weights", "likelihood"],
)
def test_what_differs_in_layers_or_weights_is_another_run(
    train_small, tmp_path, name, one, same, other
):
    run = train_small(**{name: one}, out=tmp_path)
    again = train_small(**{name: same}, out=tmp_path)
    assert torch.equal(next(run.model.parameters()), next(again.model.parameters()))
    with pytest.raises(CheckpointFormatError, match=f"another {name}"):
        train_small(**{name: other}, out=tmp_path)


class Forgetful(AbstractNetwork):
    """Dense, with dropout in the encoder."""

    def encoder(self, image_shape, n_outputs):
        return nn.Sequential(
            nn.Dropout(0.5), *Dense(widths=(8,)).encoder(image_shape, n_outputs)
        )

    def decoder(self, image_shape, n_latents):
        return Dense(widths=(8,)).decoder(image_shape, n_latents)


def test_dropout_belongs_to_the_seed_and_leaves_torch_as_it_was(train_small):
    torch.manual_seed(3)
    before = torch.get_rng_state()
    first = train_small(network=Forgetful()).model.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(4)
    second = train_small(network=Forgetful()).model.state_dict()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_dropout_differs_from_step_to_step(train_small):
    # The same mask at every step would leave half of the inputs without a gradient.
    run = train_small(network=Forgetful(), steps=1, optimizer="SGD", learning_rate=1e-3)
    more = train_small(
        network=Forgetful(), steps=8, optimizer="SGD", learning_rate=1e-3
    )
    fresh = train_small(
        network=Forgetful(), steps=1, optimizer="SGD", learning_rate=1e-30
    )

    def changed(model):
        name = "encoder.2.weight"
        difference = model.state_dict()[name] - fresh.model.state_dict()[name]
        return int((difference.abs() > 0).any(dim=0).sum())

    assert changed(more.model) > changed(run.model)
