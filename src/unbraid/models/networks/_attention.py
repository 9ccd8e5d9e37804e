"""Attention of MONet: a U-Net that divides an image among slots, one after another."""

from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional

_SMALLEST = 4
"""Side of the smallest feature map of the U-Net."""

_N_UNITS = 128
"""Units of the two dense layers in the middle of the U-Net."""


class UNet(nn.Module):
    """From maps to one logit per pixel, at several resolutions.

    Each level halves the sides until they are below 8 pixels. On the way back, each
    level sees the features of the same resolution.

    Args:
        n_channels: Channels of the input.
        sides: Height and width of the input.
        n_filters: Filters of every layer.

    Example:
        >>> UNet(4, (16, 16), 8)(torch.zeros(2, 4, 16, 16)).shape
        torch.Size([2, 16, 16])
    """

    def __init__(self, n_channels: int, sides: tuple[int, int], n_filters: int) -> None:
        super().__init__()
        all_sides = [sides]
        while min(all_sides[-1]) >= 2 * _SMALLEST:
            height, width = all_sides[-1]
            all_sides.append((-(-height // 2), -(-width // 2)))
        n_levels = len(all_sides)
        widths = (n_channels, *[n_filters] * n_levels)
        self.down = nn.ModuleList(_block(*pair) for pair in pairwise(widths))
        self.up = nn.ModuleList(
            _block(2 * n_filters, n_filters) for _ in range(n_levels)
        )
        height, width = all_sides[-1]
        n_features = n_filters * height * width
        self.middle = nn.Sequential(
            nn.Flatten(),
            nn.Linear(n_features, _N_UNITS),
            nn.ReLU(),
            nn.Linear(_N_UNITS, n_features),
            nn.ReLU(),
            nn.Unflatten(1, (n_filters, height, width)),
        )
        self.last = nn.Conv2d(n_filters, 1, 1)

    def forward(self, maps: torch.Tensor) -> torch.Tensor:
        """Logits ``(batch, height, width)``."""
        features = []
        for level, block in enumerate(self.down):
            if level > 0:
                maps = functional.avg_pool2d(maps, 2, ceil_mode=True)
            maps = block(maps)
            features.append(maps)
        maps = self.middle(maps)
        for block, feature in zip(self.up, reversed(features), strict=True):
            maps = functional.interpolate(maps, size=feature.shape[2:])
            maps = block(torch.cat([maps, feature], dim=1))
        return self.last(maps)[:, 0]


def _block(n_inputs: int, n_outputs: int) -> nn.Module:
    return nn.Sequential(
        # The normalization subtracts the mean, so that a bias would have no effect.
        nn.Conv2d(n_inputs, n_outputs, 3, padding=1, bias=False),
        nn.InstanceNorm2d(n_outputs, affine=True),
        nn.ReLU(),
    )


def divide_pixels(
    images: torch.Tensor, attention: nn.Module, n_slots: int
) -> torch.Tensor:
    r"""Divide every pixel among slots, by breaking a stick of length 1.

    The scope :math:`s_k` is what is left after :math:`k` slots. Each slot takes the
    share :math:`\alpha_k` of it that the attention chooses, and the last slot takes the
    rest.

    .. math::
        s_0 = 1, \qquad
        m_k = s_{k-1} \alpha_k, \qquad
        s_k = s_{k-1} (1 - \alpha_k), \qquad
        m_K = s_{K-1}

    Args:
        images: Images, ``(batch, channels, height, width)``.
        attention: Network from an image and the logarithm of the scope, ``(batch,
            channels + 1, height, width)``, to the logits of the shares, ``(batch,
            height, width)``.
        n_slots: Number of slots :math:`K`.

    Returns:
        Logarithms of the masks, ``(batch, n_slots, height, width)``. The masks add up
        to 1 in every pixel.
    """
    log_scope = torch.zeros_like(images[:, 0])
    log_masks = []
    for _ in range(n_slots - 1):
        logits = attention(torch.cat([images, log_scope[:, None]], dim=1))
        log_masks.append(log_scope + functional.logsigmoid(logits))
        log_scope = log_scope + functional.logsigmoid(-logits)
    return torch.stack([*log_masks, log_scope], dim=1)
