"""Dense network, for vectors and small images."""

import math
from dataclasses import dataclass
from itertools import pairwise

from torch import nn

from unbraid.foundation import check_integers, check_option

from ._base import AbstractNetwork, Initialization, initialize


@dataclass(frozen=True, kw_only=True)
class Dense(AbstractNetwork):
    """Linear layers with ReLU between them; the decoder mirrors the encoder.

    Args:
        widths: Number of units of each hidden layer of the encoder, from the image to
            the code.
        initialisation: Initialization of the weights of all layers.

    Example:
        >>> Dense(widths=(8,)).encoder((1, 2, 2), 6)
        Sequential(
          (0): Flatten(start_dim=1, end_dim=-1)
          (1): Linear(in_features=4, out_features=8, bias=True)
          (2): ReLU()
          (3): Linear(in_features=8, out_features=6, bias=True)
        )
    """

    widths: tuple[int, ...] = (256, 256)
    initialisation: Initialization = "glorot_uniform"

    def __post_init__(self) -> None:
        check_integers("widths", self.widths, least=1)
        # Settings from a file contain lists.
        object.__setattr__(self, "widths", tuple(self.widths))
        check_option("initialisation", self.initialisation, Initialization)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return a network from ``(batch, *image_shape)`` to ``(batch, n_outputs)``."""
        widths = (math.prod(image_shape), *self.widths, n_outputs)
        layers = nn.Sequential(nn.Flatten(), *_layers(widths))
        return initialize(layers, self.initialisation)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a network from ``(batch, n_latents)`` to ``(batch, *image_shape)``."""
        widths = (n_latents, *self.widths[::-1], math.prod(image_shape))
        layers = nn.Sequential(*_layers(widths), nn.Unflatten(1, image_shape))
        return initialize(layers, self.initialisation)


def _layers(widths: tuple[int, ...]) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for n_inputs, n_outputs in pairwise(widths):
        layers += [nn.Linear(n_inputs, n_outputs), nn.ReLU()]
    return layers[:-1]
