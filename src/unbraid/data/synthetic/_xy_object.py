"""XYObject: one colored square of varying place, size and color.

Two datasets with the same images in the same order and different factors: whether
color is one factor or two changes how well a model appears to disentangle.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorKind, FactorSpace

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
        who = type(self).__name__
        object.__setattr__(self, "square_sizes", tuple(self.square_sizes))
        sizes = self.square_sizes
        if not 1 <= self.image_size <= LARGEST_IMAGE:
            raise ValueError(
                f"{who}: expected an image_size from 1 to {LARGEST_IMAGE}, got "
                f"{self.image_size}."
            )
        if not sizes or min(sizes) < 1 or max(sizes) > self.image_size:
            raise ValueError(
                f"{who}: expected square_sizes from 1 to the image_size "
                f"{self.image_size}, got {sizes}."
            )
        if len(set(sizes)) < len(sizes):
            raise ValueError(f"{who}: expected square_sizes that differ, got {sizes}.")
        if self.spacing < 1:
            raise ValueError(
                f"{who}: expected a spacing of at least 1, got {self.spacing}."
            )
        if self.palette not in get_args(Palette):
            raise ValueError(
                f"{who}: expected a palette among {', '.join(get_args(Palette))}, "
                f"got {self.palette!r}."
            )
        if not self.rgb and self._hue_name != "greys":
            raise ValueError(
                f"{who}: expected a greys palette for one channel (rgb=False), got "
                f"{self.palette!r}."
            )

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels if ``rgb``, else one."""
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
        """Every color, darkest shade first, all hues within a shade."""
        shades = 256 * np.arange(1, self._n_shades + 1) // self._n_shades - 1
        hues = np.array(_HUES[self._hue_name])
        colors = (shades[:, None, None] * hues).reshape(-1, 3).astype(np.uint8)
        return colors if self.rgb else colors[:, :1]

    @property
    def _hue_kind(self) -> FactorKind:
        return "cyclic" if self._hue_name == "rainbow" else "categorical"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        # Both datasets number their rows alike, whatever they call the colors.
        colors = self._colors
        rest, color = np.divmod(indices, len(colors))
        place, size = np.divmod(rest, len(self.square_sizes))
        place = np.stack(np.divmod(place, self._n_positions))
        box = max(self.square_sizes)
        margin = (self.image_size - box - (self._n_positions - 1) * self.spacing) // 2
        images = np.zeros((len(indices), *self.image_shape), dtype=np.uint8)
        for number, side in enumerate(self.square_sizes):
            rows = np.flatnonzero(size == number)
            # Every place a square can have, as a view: setting one sets its pixels.
            places = sliding_window_view(
                images, (side, side), axis=(2, 3), writeable=True
            )
            column, line = margin + (box - side) // 2 + self.spacing * place[:, rows]
            places[rows, :, line, column] = colors[color[rows], :, None, None]
        return images


@dataclass(frozen=True, kw_only=True)
class XYObject(_AbstractXYObject):
    """A square whose place, size and color vary; all colors are one factor.

    Args:
        image_size: Side of the image in pixels.
        square_sizes: Sides of the square in pixels, centered in a box of the largest.
        spacing: Pixels between neighboring positions.
        palette: Hues and number of shades: ``greys``, ``rgb``, ``rainbow`` (red,
            yellow, green, cyan, blue, magenta) or ``colors`` (the same and white), in
            1, 2 or 4 shades. Darker shades come first, hues count within a shade.
        rgb: Three channels; one channel (greys only) otherwise.

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
        """Column, row, size and color."""
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
        """Column, row, size, shade and hue."""
        n, n_hues = self._n_positions, len(_HUES[self._hue_name])
        return FactorSpace(
            ("x", "y", "scale", "intensity", "color"),
            (n, n, len(self.square_sizes), self._n_shades, n_hues),
            ("ordinal", "ordinal", "ordinal", "ordinal", self._hue_kind),
        )
