"""Pictures of any size as square pictures of one size."""

import numpy as np
from numpy.typing import NDArray
from PIL import Image


def squared(picture: Image.Image, size: int) -> NDArray[np.uint8]:
    """The center square of a picture, resized with a bilinear filter.

    The filter is as wide as a pixel of the result, so that every pixel of the picture
    counts.

    Args:
        picture: Gray or in color.
        size: Side of the result in pixels. A square of that side is left as it is.

    Returns:
        Pixels, ``(size, size)`` or ``(size, size, 3)``.

    Example:
        >>> squared(Image.new("L", (178, 218), color=7), 64).shape
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
    """Part of the name of a file that keeps images of this size.

    It names the filter, so that files made with another filter are not taken for them.
    """
    return f"{size}px-bilinear"


def require_image_size(who: str, image_size: int) -> None:
    """Raise ValueError unless a picture can have this side."""
    if image_size < 1:
        raise ValueError(
            f"{who}: expected an image_size of at least 1, got {image_size}."
        )
