"""Separable network: images as sums of products of rows and columns."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn

from unbraid.foundation import check_integer, check_integers

from ._base import AbstractNetwork
from ._dense import Dense


@dataclass(frozen=True, kw_only=True)
class Separable(AbstractNetwork):
    r"""Dense encoder, and a decoder that draws images as products of rows and columns.

    Two small networks compute features of every row and of every column from the code
    and the position. A pixel is a weighted sum of the products of both:

    .. math:: x_{crs} = b_c + \sum_{k=1}^{K} w_{ck} \, f_k(z, r) \, g_k(z, s)

    Like a spatial broadcast decoder, it knows positions, so that an object that moves
    is learned once and not in every place. Because the networks run once per row and
    column and not once per pixel, it takes little more time than dense layers. With
    :math:`K` at least as large as the shorter side, any image can be drawn.

    Args:
        widths: Number of units of each hidden layer of the encoder.
        n_units: Number of units of each hidden layer of the decoder.
        n_layers: Number of hidden layers of the decoder, at least 1.
        rank: Number of products :math:`K`.
        n_waves: Number of frequencies of sines and cosines of a position, which the
            decoder gets besides the position itself; doubles from half a wave per side.

    Example:
        >>> network = Separable(widths=(8,), n_units=8, rank=4)
        >>> decode = network.decoder((3, 16, 24), 10)
        >>> decode(torch.zeros(2, 10)).shape
        torch.Size([2, 3, 16, 24])

    References:
        The decoder is ours. Spatial broadcast decoder: Watters, Matthey, Burgess and
        Lerchner (2019). https://arxiv.org/abs/1901.07017. Sines and cosines of
        positions: Tancik et al. (2020). https://arxiv.org/abs/2006.10739
    """

    widths: tuple[int, ...] = (128, 128)
    n_units: int = 64
    n_layers: int = 2
    rank: int = 32
    n_waves: int = 2

    def __post_init__(self) -> None:
        check_integers("widths", self.widths, least=1)
        # Settings from a file contain lists.
        object.__setattr__(self, "widths", tuple(self.widths))
        check_integer("n_units", self.n_units, least=1)
        check_integer("n_layers", self.n_layers, least=1)
        check_integer("rank", self.rank, least=1)
        check_integer("n_waves", self.n_waves, least=0)

    def encoder(self, image_shape: tuple[int, ...], n_outputs: int) -> nn.Module:
        """Return a network from ``(batch, *image_shape)`` to ``(batch, n_outputs)``."""
        return Dense(widths=self.widths).encoder(_checked(image_shape), n_outputs)

    def decoder(self, image_shape: tuple[int, ...], n_latents: int) -> nn.Module:
        """Return a network from ``(batch, n_latents)`` to ``(batch, *image_shape)``."""
        n_channels, height, width = _checked(image_shape)
        widths = (*[self.n_units] * self.n_layers, self.rank)
        rows, columns = (
            LineFeatures(n_latents, _waves(side, self.n_waves), widths)
            for side in (height, width)
        )
        return ProductDecoder(rows, columns, n_channels)


class LineFeatures(nn.Module):
    """Features of every row or column of an image, from a code.

    Args:
        n_latents: Number of latents in a code.
        positions: Description of the position of each line, ``(n_lines, n_numbers)``.
        widths: Number of units of each layer; the last one is linear.
    """

    positions: torch.Tensor

    def __init__(
        self, n_latents: int, positions: torch.Tensor, widths: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.register_buffer("positions", positions, persistent=False)
        # The first layer sees code and position; the code is the same for all lines.
        self.from_code = nn.Linear(n_latents, widths[0])
        self.from_position = nn.Linear(positions.shape[1], widths[0], bias=False)
        self.layers = nn.Sequential(nn.ReLU(), *_layers(widths))

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Return features of all lines, ``(batch, n_lines, n_features)``."""
        return self.layers(self.from_code(codes)[:, None] + self.embed_positions())

    def embed_positions(self) -> torch.Tensor:
        """Return the part of the first layer that does not depend on the code."""
        return self.from_position(self.positions)


class ProductDecoder(nn.Module):
    """Draws images as weighted sums of products of features of rows and columns.

    Args:
        rows: Network from codes to features of rows, ``(batch, height, rank)``.
        columns: Network from codes to features of columns, ``(batch, width, rank)``.
        n_channels: Number of channels of images.
    """

    def __init__(
        self, rows: LineFeatures, columns: LineFeatures, n_channels: int
    ) -> None:
        super().__init__()
        self.rows = rows
        self.columns = columns
        last = rows.layers[-1]
        assert isinstance(last, nn.Linear)
        self.channels = nn.Linear(last.out_features, n_channels)

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Return the output for each pixel, ``(batch, channels, height, width)``."""
        rows, columns = self.rows(codes), self.columns(codes)
        weighted = rows[:, None] * self.channels.weight[:, None]
        # All channels of an image in one matrix product, which is the faster way.
        drawn = weighted.flatten(1, 2) @ columns.mT
        drawn = drawn.unflatten(1, weighted.shape[1:3])
        return drawn + self.channels.bias[:, None, None]


def _layers(widths: tuple[int, ...]) -> Iterator[nn.Module]:
    for number in range(1, len(widths)):
        if number > 1:
            yield nn.ReLU()
        yield nn.Linear(widths[number - 1], widths[number])


def _waves(side: int, n_waves: int) -> torch.Tensor:
    """Return positions from -1 to 1, their sines and cosines, one row per line."""
    positions = (2 * torch.arange(side) + 1) / side - 1
    columns = [positions]
    for number in range(n_waves):
        angles = 0.5 * math.pi * 2**number * positions
        columns += [angles.sin(), angles.cos()]
    return torch.stack(columns, dim=1)


def _checked(image_shape: tuple[int, ...]) -> tuple[int, int, int]:
    if len(image_shape) != 3:
        raise ValueError(
            "Separable needs images (channels, height, width), got shape "
            f"{image_shape}. Use Dense for vectors."
        )
    channels, height, width = image_shape
    return channels, height, width
