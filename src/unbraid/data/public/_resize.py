"""Conversion of pictures of any size to squares of one size."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def resize_square(picture: Image.Image, size: int) -> NDArray[np.uint8]:
    """Resize the center square of a picture with a bilinear filter.

    The filter is as wide as a pixel of the result, so that every pixel of the picture
    is used.

    Args:
        picture: Picture, gray or in color.
        size: Side of the result in pixels. A square of that side is not changed.

    Returns:
        Pixels, ``(size, size)`` or ``(size, size, 3)``.

    Example:
        >>> resize_square(Image.new("L", (178, 218), color=7), 64).shape
        (64, 64)

    References:
        Michlo (2022), dissertation, section A.3.3: 64 x 64 pixels by bilinear
        filtering.
    """
    width, height = picture.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    center = picture.crop((left, top, left + side, top + side))
    return np.asarray(center.resize((size, size), Image.Resampling.BILINEAR))


def resized_label(size: int) -> str:
    """Return the part of a file name that denotes images of this size.

    It contains the filter, so that files of another filter have another name.
    """
    return f"{size}px-bilinear"
