"""Discriminator between codes and codes whose latents were shuffled."""

from itertools import pairwise

import torch
from torch import nn

from ._base import initialize

_SLOPE = 0.2
"""Slope of the leaky ReLU below zero."""


class Discriminator(nn.Module):
    """Dense layers with leaky ReLU, from a code to two logits.

    Args:
        n_latents: Number of latents in a code.
        width: Number of units of every hidden layer.
        depth: Number of hidden layers.

    Example:
        >>> Discriminator(10)(torch.zeros(4, 10)).shape
        torch.Size([4, 2])

    References:
        Kim and Mnih (2018), Disentangling by Factorizing, appendix A.
        https://arxiv.org/abs/1802.05983
    """

    def __init__(self, n_latents: int, *, width: int = 1000, depth: int = 6) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        for n_inputs, n_outputs in pairwise((n_latents, *[width] * depth)):
            layers += [nn.Linear(n_inputs, n_outputs), nn.LeakyReLU(_SLOPE)]
        self.layers = nn.Sequential(*layers, nn.Linear(width, 2))
        initialize(self, "glorot_uniform")

    def forward(self, codes: torch.Tensor) -> torch.Tensor:
        """Return logits ``(batch, 2)`` of codes ``(batch, n_latents)``."""
        return self.layers(codes)
