"""Discs: a disc with soft edges that moves, grows and changes its color."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer

_BLUE, _ORANGE = np.array([0.1, 0.45, 1.0]), np.array([1.0, 0.55, 0.1])


@dataclass(frozen=True, kw_only=True)
class Discs(AbstractFactorDataset):
    """A disc on black whose position, size and color vary, for quick experiments.

    Edges are antialiased and neighboring positions overlap, so that images change
    gradually with every factor. A beta-TCVAE finds the four factors in about a minute
    on a CPU. ``unbraid demo`` uses this dataset.

    Centers lie between 5/16 and 11/16 of the side of the image, so that no disc is cut
    off. The radius goes from 1/8 to 1/4 of the side, the color from blue to orange.

    Args:
        image_size: Side of the image in pixels, at least 8.
        n_positions: Number of positions along each axis.
        n_sizes: Number of radii.
        n_colors: Number of colors.

    Example:
        >>> discs = Discs()
        >>> len(discs), discs.image_shape, discs.factor_space.names
        (16384, (3, 16, 16), ('x', 'y', 'size', 'color'))
    """

    image_size: int = 16
    n_positions: int = 16
    n_sizes: int = 8
    n_colors: int = 8

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=8, most=LARGEST_IMAGE)
        for name in ("n_positions", "n_sizes", "n_colors"):
            check_integer(name, getattr(self, name), least=1)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "discs"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels."""
        return (3, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Column, row, radius and color."""
        n = self.n_positions
        return FactorSpace(
            ("x", "y", "size", "color"), (n, n, self.n_sizes, self.n_colors)
        )

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        side = self.image_size
        # Every factor from 0 to 1; a factor with one value stays in the middle.
        sizes = np.array(self._space.sizes)
        share = np.where(
            sizes > 1, self._space.factors(indices) / np.maximum(sizes - 1, 1), 0.5
        )
        x, y, size, blend = share.T[..., None]
        centers = [side * (5 + 6 * part) / 16 - 0.5 for part in (x, y)]
        radius = side * (1 + size) / 8
        pixels = np.arange(side)
        across, down = (pixels - center for center in centers)
        distance = np.hypot(across[:, None, :], down[:, :, None])
        # A pixel at the edge is covered in part.
        covered = np.clip(radius[..., None] - distance + 0.5, 0, 1)
        colors = (1 - blend) * _BLUE + blend * _ORANGE
        images = covered[:, None] * colors[:, :, None, None]
        return np.round(255 * images).astype(np.uint8)
