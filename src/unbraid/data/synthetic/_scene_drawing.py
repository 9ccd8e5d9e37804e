"""Drawing scenes of several sprites, with the mask of each of them."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

SpriteShape = Literal["square", "triangle", "disc"]
SPRITE_SHAPES: tuple[SpriteShape, ...] = get_args(SpriteShape)

# Half the side of a square, and the distance from the center to the sides of a
# triangle, with the area of a disc of radius 1.
_SQUARE = math.sqrt(math.pi) / 2
_TRIANGLE = math.sqrt(math.pi / (3 * math.sqrt(3)))


def draw_masks(
    positions: NDArray[np.floating],
    shapes: NDArray[np.integer],
    sizes: NDArray[np.floating],
    *,
    image_size: int,
) -> NDArray[np.float32]:
    r"""Draw the visible part of every sprite, and of the background.

    Edges are antialiased: a pixel is covered by :math:`c = \min(1, \max(0, 1/2 - d))`,
    where :math:`d` is the distance of its center from the outline in pixels, negative
    inside. Later sprites are in front of earlier ones:

    .. math:: m_k = c_k \prod_{j > k} (1 - c_j)

    Args:
        positions: Centers (x to the right, y down), from 0 to 1 across the image,
            ``(n, n_sprites, 2)``.
        shapes: Indices into ``SPRITE_SHAPES``, ``(n, n_sprites)``.
        sizes: Radius of a disc of the same area, as a fraction of the side of the
            image, ``(n, n_sprites)``.
        image_size: Side of the image in pixels.

    Returns:
        Masks ``(n, 1 + n_sprites, image_size, image_size)``, the background first. They
        add up to 1 in every pixel.

    Example:
        >>> center, disc = np.array([[[0.5, 0.5]]]), np.array([[2]])
        >>> masks = draw_masks(center, disc, np.array([[0.25]]), image_size=8)
        >>> masks.shape, float(masks[0, 1, 4, 4])
        ((1, 2, 8, 8), 1.0)
    """
    centers = (np.arange(image_size) + 0.5) / image_size
    right = (centers[None, None, None, :] - positions[..., 0, None, None]) * image_size
    down = (centers[None, None, :, None] - positions[..., 1, None, None]) * image_size
    radius = np.asarray(sizes)[..., None, None] * image_size
    covered = np.clip(0.5 - _distance(shapes, right, down, radius), 0, 1)
    n, n_sprites = np.shape(shapes)
    masks = np.empty((n, 1 + n_sprites, image_size, image_size), np.float32)
    uncovered = np.ones((n, image_size, image_size))
    for k in reversed(range(n_sprites)):
        masks[:, 1 + k] = covered[:, k] * uncovered
        uncovered = uncovered * (1 - covered[:, k])
    masks[:, 0] = uncovered
    return masks


def _distance(
    shapes: NDArray[np.integer],
    right: NDArray[np.floating],
    down: NDArray[np.floating],
    radius: NDArray[np.floating],
) -> NDArray[np.floating]:
    """Distance of pixels from the nearest line of an outline, negative inside."""
    square = np.maximum(np.abs(right), np.abs(down)) - _SQUARE * radius
    disc = np.hypot(right, down) - radius
    slanted = np.abs(right) * math.sqrt(0.75) - down / 2
    triangle = np.maximum(slanted, down) - _TRIANGLE * radius
    which = np.asarray(shapes)[..., None, None]
    return np.where(which == 0, square, np.where(which == 1, triangle, disc))


def hues(n_colors: int) -> NDArray[np.float32]:
    """Return bright colors, evenly spread over the hues from red, ``(n_colors, 3)``.

    Example:
        >>> hues(3).tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    hue = 6 * np.arange(n_colors) / n_colors
    # Each channel is full for a third of the circle and has ramps of a sixth.
    away = np.abs((hue[:, None] - np.array([0, 2, 4]) + 3) % 6 - 3)
    return np.clip(2 - away, 0, 1).astype(np.float32)


def paint(
    masks: NDArray[np.floating], colors: NDArray[np.floating]
) -> NDArray[np.uint8]:
    """Color sprites on a black background.

    Args:
        masks: Masks of the background and of the sprites, ``(n, 1 + n_sprites, height,
            width)``.
        colors: Color of each sprite, ``(n, n_sprites, 3)``.

    Returns:
        Images ``(n, 3, height, width)``.
    """
    images = np.einsum("nkhw,nkc->nchw", masks[:, 1:], colors)
    return np.rint(255 * images).astype(np.uint8)
