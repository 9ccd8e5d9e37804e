"""Rendering of a square, an ellipse and a heart.

Lengths without a unit are in 64ths of the side of the image: pixels of dSprites.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["square", "ellipse", "heart"]

IMAGE_SIDE = 64
# Every sprite fits into a box of this side at any angle. It is odd, as is the range of
# the positions, so that both margins of the image have the same number of pixels.
BOX_SIDE = 29

# Sizes at scale 1. They were fitted, together with the range of the positions in
# Sprites2D, to the pixel statistics and perceived distances of dSprites.
_SQUARE_HALF_SIDE = 9.5
_ELLIPSE_HALF_AXES = (13.0, 6.5)
_HEART_HALF_WIDTH = 10.0
# Height of the center of rotation of the heart, above the middle between tip and notch.
_HEART_PIVOT = 3.0

# Offset of the sprite from the middle of its box. Exactly in the middle, squares at
# different angles would often cover the same pixels, and vertical edges could pass
# through the middle of pixels, where rounding errors decide.
_OFF_MIDDLE = (0.2, 0.15)

_SAMPLES_PER_PIXEL = 8


def draw_sprite(
    shape: Shape,
    *,
    scale: float,
    turns: float,
    image_size: int,
    steps_per_pixel: int,
) -> NDArray[np.uint8]:
    """Draw a box with a sprite in its middle, at every step within a pixel.

    With one step per pixel, a pixel is white if its middle is covered, and black
    otherwise. With more, it is as bright as the share of it that is covered.

    Args:
        shape: Shape of the sprite.
        scale: Size of the sprite, 1 for the largest that fits.
        turns: Clockwise rotation in full turns.
        image_size: Side of the image that contains the box, in pixels.
        steps_per_pixel: Number of positions of the sprite per pixel and axis.

    Returns:
        Boxes of shape ``(steps_per_pixel, steps_per_pixel, side, side)``: at ``[i, j]``
        the box moved down by ``i`` steps and right by ``j``.

    Example:
        >>> boxes = draw_sprite(
        ...     "heart", scale=1, turns=0, image_size=16, steps_per_pixel=4
        ... )
        >>> boxes.shape
        (4, 4, 8, 8)
    """
    n_steps = box_steps(steps_per_pixel * image_size)
    samples = 1 if steps_per_pixel == 1 else -(-_SAMPLES_PER_PIXEL // steps_per_pixel)
    pitch = IMAGE_SIDE / (image_size * steps_per_pixel * samples)
    covered = _covered(shape, scale, turns, n_points=n_steps * samples, pitch=pitch)
    per_step = _block_sums(covered.astype(np.int64), samples)

    side = -(-(n_steps + steps_per_pixel - 1) // steps_per_pixel)
    room = side * steps_per_pixel - n_steps
    brightest = (samples * steps_per_pixel) ** 2
    boxes = np.empty((steps_per_pixel, steps_per_pixel, side, side), dtype=np.uint8)
    for down, right in np.ndindex(steps_per_pixel, steps_per_pixel):
        moved = np.pad(per_step, ((down, room - down), (right, room - right)))
        boxes[down, right] = np.rint(
            _block_sums(moved, steps_per_pixel) * (255 / brightest)
        )
    return boxes


def box_steps(image_steps: int) -> int:
    """Return the side of the box in steps, given the side of the image in steps."""
    return -(-BOX_SIDE * image_steps // IMAGE_SIDE)


def _covered(
    shape: Shape, scale: float, turns: float, *, n_points: int, pitch: float
) -> NDArray[np.bool_]:
    """Return whether points of a square lattice are covered by a sprite."""
    lattice = (np.arange(n_points) - (n_points - 1) / 2) * pitch
    x = (lattice[None, :] - _OFF_MIDDLE[0]) / scale
    y = (lattice[:, None] - _OFF_MIDDLE[1]) / scale
    cosine, sine = np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)
    return _is_inside(shape, cosine * x + sine * y, sine * x - cosine * y)


def _is_inside(
    shape: Shape, right: NDArray[np.float64], up: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether points are inside of the upright shape of scale 1 around the origin."""
    if shape == "square":
        return np.maximum(np.abs(right), np.abs(up)) <= _SQUARE_HALF_SIDE
    if shape == "ellipse":
        half_width, half_height = _ELLIPSE_HALF_AXES
        return (right / half_width) ** 2 + (up / half_height) ** 2 <= 1
    # A disc whose columns are shifted up by sqrt(|u|), then compressed by 5/4.
    u, v = right / _HEART_HALF_WIDTH, (up + _HEART_PIVOT) / _HEART_HALF_WIDTH
    w = 1.25 * v - np.sqrt(np.abs(u))
    return u * u + w * w <= 1


def _block_sums(values: NDArray[np.int64], side: int) -> NDArray[np.int64]:
    """Return the sums over the square blocks of a square array."""
    n_blocks = len(values) // side
    return values.reshape(n_blocks, side, n_blocks, side).sum(axis=(1, 3))
