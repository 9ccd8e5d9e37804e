"""XYObject: one square of varying position, size and color.

Two datasets contain the same images in the same order, with different factors: whether
color is one factor or two affects how well a model appears to disentangle.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorKind, FactorSpace
from unbraid.foundation import (
    check_integer,
    check_not_empty,
    check_option,
    check_unique,
)

Palette = Literal[
    "greys_1", "greys_2", "greys_4",
    "rgb_1", "rgb_2", "rgb_4",
    "rainbow_1", "rainbow_2", "rainbow_4",
    "colors_1", "colors_2", "colors_4",
]  # fmt: skip

_HUES = {
    "greys": ((1, 1, 1),),
    "rgb": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "rainbow": ((1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1)),
    "colors": (
        (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 1, 1), (0, 0, 1), (1, 0, 1), (1, 1, 1),
    ),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _AbstractXYObject(AbstractFactorDataset):
    image_size: int = 64
    square_sizes: tuple[int, ...] = (7, 9, 11, 13, 15)
    spacing: int = 2
    palette: Palette = "rainbow_4"
    rgb: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "square_sizes", tuple(self.square_sizes))
        check_integer("image_size", self.image_size, least=1, most=LARGEST_IMAGE)
        check_not_empty("square_sizes", self.square_sizes)
        for index, side in enumerate(self.square_sizes):
            check_integer(f"square_sizes[{index}]", side, least=1, most=self.image_size)
        check_unique("square_sizes", self.square_sizes)
        check_integer("spacing", self.spacing, least=1)
        check_option("palette", self.palette, Palette)
        if not self.rgb and self._hue_name != "greys":
            raise ValueError(
                "palette must be greys_1, greys_2 or greys_4 for one channel "
                f"(rgb=False), got {self.palette!r}."
            )

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels (three if ``rgb``, otherwise one), height and width."""
        return (3 if self.rgb else 1, self.image_size, self.image_size)

    @property
    def _hue_name(self) -> str:
        return self.palette.split("_")[0]

    @property
    def _n_shades(self) -> int:
        return int(self.palette.split("_")[1])

    @property
    def _n_positions(self) -> int:
        return (self.image_size - max(self.square_sizes)) // self.spacing + 1

    @property
    def _colors(self) -> NDArray[np.uint8]:
        """All colors, sorted by shade, darkest first, then by hue."""
        shades = 256 * np.arange(1, self._n_shades + 1) // self._n_shades - 1
        hues = np.array(_HUES[self._hue_name])
        colors = (shades[:, None, None] * hues).reshape(-1, 3).astype(np.uint8)
        return colors if self.rgb else colors[:, :1]

    @property
    def _hue_kind(self) -> FactorKind:
        return "cyclic" if self._hue_name == "rainbow" else "categorical"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        # The order of the images is the same in both datasets.
        colors = self._colors
        rest, color = np.divmod(indices, len(colors))
        position, size = np.divmod(rest, len(self.square_sizes))
        position = np.stack(np.divmod(position, self._n_positions))
        box = max(self.square_sizes)
        margin = (self.image_size - box - (self._n_positions - 1) * self.spacing) // 2
        images = np.zeros((len(indices), *self.image_shape), dtype=np.uint8)
        for number, side in enumerate(self.square_sizes):
            rows = np.flatnonzero(size == number)
            # Views of the pixels of a square at every position.
            squares = sliding_window_view(
                images, (side, side), axis=(2, 3), writeable=True
            )
            column, line = margin + (box - side) // 2 + self.spacing * position[:, rows]
            squares[rows, :, line, column] = colors[color[rows], :, None, None]
        return images


@dataclass(frozen=True, kw_only=True)
class XYObject(_AbstractXYObject):
    """A square whose position, size and color vary; color is a single factor.

    Args:
        image_size: Side of the image in pixels.
        square_sizes: Sides of the square in pixels, centered in a box of the largest.
        spacing: Distance of neighboring positions in pixels.
        palette: Hues and number of shades: ``greys``, ``rgb``, ``rainbow`` (red,
            yellow, green, cyan, blue, magenta) or ``colors`` (the same and white), with
            1, 2 or 4 shades, such as ``rgb_2``. Colors are sorted by shade, darkest
            first, then by hue.
        rgb: Whether images have three channels, or one (``greys`` only).

    Example:
        >>> XYObject().factor_space.sizes
        (25, 25, 5, 24)

    References:
        Michlo (2022), dissertation, section 7.2 and Figure 7.2 (a).
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "xy_object"

    @property
    def factor_space(self) -> FactorSpace:
        """Column, row, size and color of the square."""
        n, n_colors = self._n_positions, len(self._colors)
        return FactorSpace(
            ("x", "y", "scale", "color"),
            (n, n, len(self.square_sizes), n_colors),
            ("ordinal", "ordinal", "ordinal", "categorical"),
        )


@dataclass(frozen=True, kw_only=True)
class XYObjectShaded(_AbstractXYObject):
    """The images of :class:`XYObject` with color as two factors, shade and hue.

    The arguments are those of :class:`XYObject`.

    Example:
        >>> XYObjectShaded().factor_space.names
        ('x', 'y', 'scale', 'intensity', 'color')

    References:
        Michlo (2022), dissertation, section 7.2 and Figure 7.2 (b).
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "xy_object_shaded"

    @property
    def factor_space(self) -> FactorSpace:
        """Column, row, size, shade and hue of the square."""
        n, n_hues = self._n_positions, len(_HUES[self._hue_name])
        return FactorSpace(
            ("x", "y", "scale", "intensity", "color"),
            (n, n, len(self.square_sizes), self._n_shades, n_hues),
            ("ordinal", "ordinal", "ordinal", "ordinal", self._hue_kind),
        )
