"""Convolutional network for images of any size."""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import nn

from unbraid.foundation import check_integer, check_option

from ._base import AbstractNetwork, Initialization, initialize

_SMALLEST = 4
"""Side of the smallest feature map, and of the smallest image."""


@dataclass(frozen=True, kw_only=True)
class Convolutional(AbstractNetwork):
    """Convolutions of 4x4 with stride 2 until the shorter side is below 8, then dense.

    At 64x64 pixels this is the published design: four layers of 32, 32, 64 and 64
    filters and 256 units. The decoder mirrors the encoder. If sides are not powers of
    two, its output is slightly larger than the image, and is cropped.

    Args:
        n_filters: Number of filters of the first two layers; later layers have twice as
            many.
        n_units: Number of units of the dense layer.
        initialisation: Initialization of the weights of all layers.

    Example:
        >>> network = Convolutional()
        >>> encode = network.encoder((3, 60, 80), 20)
        >>> decode = network.decoder((3, 60, 80), 10)
        >>> encode(torch.zeros(1, 3, 60, 80)).shape, decode(torch.zeros(1, 10)).shape
        (torch.Size([1, 20]), torch.Size([1, 3, 60, 80]))
    """

    n_filters: int = 32
    n_units: int = 256
    initialisation: Initialization = "glorot_uniform"

    def __post_init__(self) -> None:
        check_integer("n_filters", self.n_filters, least=1)
        check_integer("n_units", self.n_units, least=1)
        check_option("initialisation", self.initialisation, Initialization)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return a network from ``(batch, *image_shape)`` to ``(batch, n_outputs)``."""
        n_layers, sides = _smallest_map(image_shape)
        widths = (image_shape[0], *self._widths(n_layers))
        layers: list[nn.Module] = []
        for n_inputs, n_filters in pairwise(widths):
            # Odd sides are padded by one, so that every pixel is used.
            layers += [EvenSides(), nn.Conv2d(n_inputs, n_filters, 4, 2, 1), nn.ReLU()]
        n_features = widths[-1] * sides[0] * sides[1]
        layers += [nn.Flatten(), nn.Linear(n_features, self.n_units), nn.ReLU()]
        layers += [nn.Linear(self.n_units, n_outputs)]
        return initialize(nn.Sequential(*layers), self.initialisation)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a network from ``(batch, n_latents)`` to ``(batch, *image_shape)``."""
        n_layers, sides = _smallest_map(image_shape)
        widths = (*self._widths(n_layers)[::-1], image_shape[0])
        n_features = widths[0] * sides[0] * sides[1]
        layers: list[nn.Module] = [nn.Linear(n_latents, self.n_units), nn.ReLU()]
        layers += [nn.Linear(self.n_units, n_features), nn.ReLU()]
        layers += [nn.Unflatten(1, (widths[0], *sides))]
        for n_inputs, n_filters in pairwise(widths):
            layers += [nn.ConvTranspose2d(n_inputs, n_filters, 4, 2, 1), nn.ReLU()]
        layers[-1] = Cut(image_shape[1:])
        return initialize(nn.Sequential(*layers), self.initialisation)

    def _widths(self, n_layers: int) -> tuple[int, ...]:
        return tuple(self.n_filters * (1 if i < 2 else 2) for i in range(n_layers))


class EvenSides(nn.Module):
    """Layer that repeats the last row or column of maps with an odd number of them."""

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        odd_height, odd_width = maps.shape[2] % 2, maps.shape[3] % 2
        if not odd_height and not odd_width:
            return maps
        return nn.functional.pad(maps, (0, odd_width, 0, odd_height), mode="replicate")


class Cut(nn.Module):
    """Layer that crops images to a height and width, evenly on both sides."""

    def __init__(self, sides: tuple[int, ...]) -> None:
        super().__init__()
        self.sides = sides

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        height, width = self.sides
        top = (images.shape[2] - height) // 2
        left = (images.shape[3] - width) // 2
        return images[:, :, top : top + height, left : left + width]


def _smallest_map(image_shape: tuple[int, ...]) -> tuple[int, tuple[int, int]]:
    """Return the number of layers, and the height and width after them."""
    if len(image_shape) != 3 or min(image_shape[1:]) < _SMALLEST:
        raise ValueError(
            "Convolutional needs images (channels, height, width) of at least "
            f"{_SMALLEST}x{_SMALLEST} pixels, got shape {image_shape}. Use Dense."
        )
    height, width = image_shape[1:]
    n_layers = 0
    while min(height, width) >= 2 * _SMALLEST:
        height, width = -(-height // 2), -(-width // 2)
        n_layers += 1
    if n_layers == 0:  # at least one, even for the smallest images
        height, width, n_layers = -(-height // 2), -(-width // 2), 1
    return n_layers, (height, width)
