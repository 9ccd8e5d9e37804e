"""XYSquares: squares that move on a grid without ever overlapping their past."""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace


@dataclass(frozen=True, kw_only=True)
class XYSquares(AbstractFactorDataset):
    """One to three squares, each at its own place on a grid.

    With a spacing as wide as the square, a square that moves by any number of steps
    shares no pixel with where it was, so that every two positions look equally far
    apart to a pixel-wise loss. That makes it hard for a VAE. Less spacing gives overlap
    and an order. ``XYSquares(image_size=8, square_size=1, spacing=1)`` is the same
    adversary as a miniature.

    Args:
        square_size: Side of a square in pixels.
        image_size: Side of the image in pixels.
        spacing: Pixels between neighboring grid positions, as wide as a square when
            not given.
        grid_size: Positions along each axis; as many as fit when not given, but never
            more than fit without overlap, so that less spacing keeps the same factors.
        n_squares: 1 to 3.
        rgb: Draw the squares in the red, green and blue channel; otherwise all in one
            gray channel.

    Example:
        >>> squares = XYSquares()
        >>> len(squares), squares.image_shape, squares.factor_space.names
        (262144, (3, 64, 64), ('x_R', 'y_R', 'x_G', 'y_G', 'x_B', 'y_B'))

    References:
        Michlo (2022), dissertation, section 3.3.1 and Figures 3.6 and 3.8.
    """

    square_size: int = 8
    image_size: int = 64
    spacing: int | None = None
    grid_size: int | None = None
    n_squares: int = 3
    rgb: bool = True

    def __post_init__(self) -> None:
        if not 1 <= self.image_size <= LARGEST_IMAGE:
            raise ValueError(
                f"XYSquares: expected an image_size from 1 to {LARGEST_IMAGE}, got "
                f"{self.image_size}."
            )
        if not 1 <= self.square_size <= self.image_size:
            raise ValueError(
                "XYSquares: expected a square_size from 1 to the image_size "
                f"{self.image_size}, got {self.square_size}."
            )
        if self.spacing is not None and self.spacing < 1:
            raise ValueError(
                f"XYSquares: expected a spacing of at least 1, got {self.spacing}."
            )
        if self.n_squares not in (1, 2, 3):
            raise ValueError(
                f"XYSquares: expected 1, 2 or 3 squares, got {self.n_squares}."
            )
        if self.grid_size is not None and not 1 <= self.grid_size <= self._most(
            self._step
        ):
            raise ValueError(
                f"XYSquares: expected a grid_size from 1 to {self._most(self._step)} "
                f"(squares of {self.square_size} every {self._step} pixels in "
                f"{self.image_size}), got {self.grid_size}."
            )

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "xy_squares"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels if ``rgb``, else one."""
        return (3 if self.rgb else 1, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Column and row of each square."""
        names = [f"{axis}_{square}" for square in "RGB" for axis in "xy"]
        n_factors = 2 * self.n_squares
        return FactorSpace(tuple(names[:n_factors]), (self._positions,) * n_factors)

    def _most(self, step: int) -> int:
        return (self.image_size - self.square_size) // step + 1

    @property
    def _step(self) -> int:
        return self.spacing or self.square_size

    @property
    def _positions(self) -> int:
        if self.grid_size is not None:
            return self.grid_size
        return min(self._most(self._step), self._most(self.square_size))

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        factors = self._space.factors(indices)
        span = self.square_size + (self._positions - 1) * self._step
        corner = (self.image_size - span) // 2 + factors * self._step
        images = np.zeros((len(indices), *self.image_shape), dtype=np.uint8)
        # Every place a square can have, as a view: setting one sets its pixels.
        side = (self.square_size, self.square_size)
        places = sliding_window_view(images, side, axis=(2, 3), writeable=True)
        rows = np.arange(len(indices))
        for square in range(self.n_squares):
            column, line = corner[:, 2 * square], corner[:, 2 * square + 1]
            places[rows, square if self.rgb else 0, line, column] = 255
        return images
