"""Shared drawing functions: image mosaics, heat maps and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

GAP = 2
"""Gap between images in pixels."""

__all__ = [
    "GAP",
    "label_of",
    "mosaic",
    "new_figure",
    "show_images",
    "show_matrix",
    "tidy",
]


def mosaic(
    rows: Sequence[Sequence[NDArray[np.uint8] | None] | NDArray[np.uint8]],
) -> tuple[NDArray[np.uint8], list[float]]:
    """Arrange images in rows on a transparent canvas.

    Args:
        rows: Images of each row, ``(channels, height, width)``; ``None`` leaves a gap.

    Returns:
        Canvas, ``(height, width, 4)``, and the vertical center of each row.
    """
    first = next(image for images in rows for image in images if image is not None)
    channels, height, width = first.shape
    longest = max(len(images) for images in rows)
    step = height + GAP
    shape = (step * len(rows) - GAP, (width + GAP) * longest - GAP, 4)
    canvas = np.zeros(shape, np.uint8)
    for number, images in enumerate(rows):
        for position, image in enumerate(images):
            if image is None:
                continue
            top, left = number * step, position * (width + GAP)
            picture = image.transpose(1, 2, 0) if channels == 3 else image[0, ..., None]
            area = canvas[top : top + height, left : left + width]
            area[..., :3], area[..., 3] = picture, 255
    return canvas, [number * step + height / 2 for number in range(len(rows))]


def show_images(axes: Axes, canvas: NDArray[np.uint8]) -> None:
    """Draw a mosaic without ticks or a frame."""
    axes.imshow(canvas, interpolation="nearest")
    axes.set_anchor("NW")
    axes.set_xticks([])
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)


def show_matrix(
    axes: Axes,
    values: NDArray[np.floating],
    *,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    low: float | None = None,
    high: float | None = None,
    colors: str = "Blues",
    number_format: str = "",
) -> AxesImage:
    """Draw a matrix as a heat map.

    Args:
        axes: Axes to draw on.
        values: Matrix; NaN for unknown values.
        rows: Names of the rows; empty for none.
        columns: Names of the columns; empty for none.
        low: Value of the first color. Default: the smallest value.
        high: Value of the last color. Default: the largest value.
        colors: Name of a matplotlib color map.
        number_format: Format of the numbers in the cells, such as ``".2f"``; empty for
            no numbers.
    """
    image = axes.imshow(
        values, cmap=colors, vmin=low, vmax=high, interpolation="nearest"
    )
    axes.set_xticks(range(len(columns)), [label_of(name) for name in columns])
    axes.set_yticks(range(len(rows)), [label_of(name) for name in rows])
    axes.tick_params(length=0, labelsize=8)
    if max((len(name) for name in columns), default=0) > 3:
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(values) if number_format else ():
        if np.isfinite(value):
            # Black text on light cells, and white text on dark cells.
            red, green, blue, _ = image.to_rgba(np.array([value]))[0]
            is_dark = 0.3 * red + 0.6 * green + 0.1 * blue < 0.55
            axes.text(
                column,
                row,
                format(value, number_format),
                ha="center",
                va="center",
                fontsize=7,
                color="white" if is_dark else "#111111",
            )
    return image
