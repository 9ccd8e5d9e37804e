"""Sprites2D: a square, an ellipse or a heart, scaled, rotated and moved."""

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer

from ._choices import check_choices
from ._sprite_shapes import IMAGE_SIDE, Shape, box_steps, draw_sprite

_SCALES, _ORIENTATIONS, _POSITIONS = 6, 40, 32
# Range of the positions, in 64ths of the image. A little larger for y than for x,
# because position y has a larger effect in dSprites.
_TRAVEL_X, _TRAVEL_Y = 31, 33


@dataclass(frozen=True, kw_only=True)
class Sprites2D(AbstractFactorDataset):
    """White sprites on black, rendered on the factor grid of dSprites.

    At 64x64 pixels, it can replace dSprites: binary images, the same factors in the
    same order, nearly the same pixel statistics and perceived distances. Smaller images
    are gray, with pixels as bright as the share of them that is covered, so that
    neighboring positions still differ. Sprites rotate clockwise from upright (the
    ellipse is horizontal) through a full turn, so that the first and the last of 40
    angles coincide, as in dSprites; all other images are different.

    It differs from dSprites in the outlines, which are given by formulas (at scale 1
    and 64x64, a square of 19 pixels, an ellipse of 26 by 13, a heart 20 wide and 21
    high), in the range of the positions (in whole pixels at 64x64: 31 to the right, 33
    down, so that two of the steps down are double), and in having no constant color
    factor. Measured at 64x64, on the whole grid and on 50,000 pairs of images per
    distance, with the standard deviation over pairs in brackets:

    ==============================  ===============  ===============
    pixels in [0, 1]                Sprites2D        dSprites
    ==============================  ===============  ===============
    mean                            0.0423           0.0425
    standard deviation in an image  0.1950           0.1952
    squared difference, any pair    0.0746 (0.0280)  0.0754 (0.0289)
    other position y                0.0582 (0.0368)  0.0584 (0.0378)
    other position x                0.0564 (0.0359)  0.0559 (0.0363)
    other scale                     0.0250 (0.0145)  0.0250 (0.0148)
    other shape                     0.0214 (0.0102)  0.0214 (0.0095)
    other orientation               0.0174 (0.0113)  0.0172 (0.0106)
    ==============================  ===============  ===============

    Args:
        image_size: Side of the image in pixels, between 16 and 64.
        shapes: Shapes of the sprites: any of ``"square"``, ``"ellipse"`` and
            ``"heart"``, in any order.
        n_scales: Number of scales, between 1 and 6, evenly spaced between 0.5 and 1; a
            single one is 0.75.
        n_orientations: Number of angles, between 1 and 40, as evenly spaced as
            possible: every fourth if 10. The last, which repeats the first, is used
            only with all 40.
        n_positions: Number of positions along each axis, between 1 and 32, evenly
            spaced; a single one is in the middle.

    Example:
        >>> sprites = Sprites2D(image_size=16, shapes=("heart",), n_orientations=10)
        >>> len(sprites), sprites.factor_space.sizes
        (61440, (1, 6, 10, 32, 32))
        >>> sprites.images([0, 61439]).shape
        (2, 1, 16, 16)

    References:
        Matthey, Higgins, Hassabis and Lerchner (2017), dSprites: Disentanglement
        testing Sprites dataset. https://github.com/deepmind/dsprites-dataset
        Michlo (2022), dissertation, Tables 3.1 and A.2: the numbers of dSprites.
    """

    image_size: int = IMAGE_SIDE
    shapes: tuple[Shape, ...] = ("square", "ellipse", "heart")
    n_scales: int = _SCALES
    n_orientations: int = _ORIENTATIONS
    n_positions: int = _POSITIONS

    def __post_init__(self) -> None:
        object.__setattr__(self, "shapes", tuple(self.shapes))
        check_choices("shapes", self.shapes, Shape)
        for field, least, most in (
            ("image_size", 16, IMAGE_SIDE),
            ("n_scales", 1, _SCALES),
            ("n_orientations", 1, _ORIENTATIONS),
            ("n_positions", 1, _POSITIONS),
        ):
            check_integer(field, getattr(self, field), least=least, most=most)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "sprites2d"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """One channel, height and width."""
        return (1, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Shape, scale, orientation and position, in the order of dSprites."""
        return FactorSpace(
            ("shape", "scale", "orientation", "position_x", "position_y"),
            (
                len(self.shapes),
                self.n_scales,
                self.n_orientations,
                self.n_positions,
                self.n_positions,
            ),
            ("categorical", "ordinal", "cyclic", "ordinal", "ordinal"),
        )

    @property
    def _steps_per_pixel(self) -> int:
        """Number of positions within a pixel, so that 32 positions differ."""
        return -(-IMAGE_SIDE // self.image_size)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        sprites, positions = np.divmod(indices, self.n_positions**2)
        n_pixels = self.image_size**2
        starts = sprites * (self._steps_per_pixel**2 * n_pixels)
        starts += self._first_starts[positions]
        windows = np.lib.stride_tricks.sliding_window_view(self._canvases, n_pixels)
        return windows[starts].reshape(-1, *self.image_shape)

    @cached_property
    def _canvases(self) -> NDArray[np.uint8]:
        """Concatenated images with every sprite in the upper left corner, flat.

        A window of one image that starts ``width * rows + columns`` pixels earlier
        shows the sprite moved by this number of rows and columns. The additional pixels
        are the lower part of the previous canvas, which is black, as is the first
        canvas.
        """
        angles = _ORIENTATIONS * np.arange(self.n_orientations) // self.n_orientations
        turns = angles / (_ORIENTATIONS - 1) % 1
        scales = _spread(0.5, 1.0, self.n_scales)
        looks = list(itertools.product(self.shapes, scales, turns))
        n_boxes = self._steps_per_pixel**2
        canvases = np.zeros((1 + len(looks) * n_boxes, *self.image_shape[1:]), np.uint8)
        for row, (shape, scale, turn) in enumerate(looks):
            boxes = draw_sprite(
                shape,
                scale=scale,
                turns=turn,
                image_size=self.image_size,
                steps_per_pixel=self._steps_per_pixel,
            )
            first, side = 1 + row * n_boxes, boxes.shape[-1]
            canvases[first : first + n_boxes, :side, :side] = boxes.reshape(
                n_boxes, side, side
            )
        return canvases.reshape(-1)

    @cached_property
    def _first_starts(self) -> NDArray[np.int64]:
        """Start of the window for each position of the first sprite, x before y."""
        n_steps, n_pixels = self._steps_per_pixel, self.image_size**2
        column, right = np.divmod(self._corners(_TRAVEL_X), n_steps)
        row, down = np.divmod(self._corners(_TRAVEL_Y), n_steps)
        x_starts = right * n_pixels - column
        y_starts = down * n_steps * n_pixels - row * self.image_size
        return (n_pixels + x_starts[:, None] + y_starts).reshape(-1)

    def _corners(self, travel: int) -> NDArray[np.int64]:
        """Return the start of the box at each position along an axis, in steps."""
        image_steps = self._steps_per_pixel * self.image_size
        span = round(travel * image_steps / IMAGE_SIDE)
        first = (image_steps - box_steps(image_steps) - span) // 2
        return first + np.rint(_spread(0, span, self.n_positions)).astype(np.int64)


def _spread(first: float, last: float, n: int) -> NDArray[np.float64]:
    """Return ``n`` evenly spaced values; a single one is in the middle."""
    return np.linspace(first, last, n) if n > 1 else np.array([(first + last) / 2])
