"""XYSquares: squares on a grid whose positions do not overlap."""

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer, check_option


@dataclass(frozen=True, kw_only=True)
class XYSquares(AbstractFactorDataset):
    """One to three squares, each at its own position on a grid.

    If the spacing is the side of the square, different positions of a square share no
    pixel, so that they are all equally far apart for a pixel-wise loss. This makes the
    dataset hard for a VAE. With less spacing, positions overlap and have an order.
    ``XYSquares(image_size=8, square_size=1, spacing=1)`` is a small version of the same
    difficulty.

    Args:
        square_size: Side of a square in pixels.
        image_size: Side of the image in pixels.
        spacing: Distance of neighboring grid positions in pixels. Default: the side of
            a square.
        grid_size: Number of positions along each axis. Default: as many as fit, but not
            more than fit without overlap, so that less spacing keeps the same factors.
        n_squares: Number of squares, between 1 and 3.
        rgb: Whether the squares are in the red, green and blue channel, or all in one
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
        check_integer("image_size", self.image_size, least=1, most=LARGEST_IMAGE)
        check_integer("square_size", self.square_size, least=1, most=self.image_size)
        if self.spacing is not None:
            check_integer("spacing", self.spacing, least=1)
        check_option("n_squares", self.n_squares, (1, 2, 3))
        if self.grid_size is not None:
            most = self._most(self._step)
            check_integer("grid_size", self.grid_size, least=1, most=most)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "xy_squares"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels (three if ``rgb``, otherwise one), height and width."""
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
        # Views of the pixels of a square at every position.
        side = (self.square_size, self.square_size)
        squares = sliding_window_view(images, side, axis=(2, 3), writeable=True)
        rows = np.arange(len(indices))
        for square in range(self.n_squares):
            column, line = corner[:, 2 * square], corner[:, 2 * square + 1]
            squares[rows, square if self.rgb else 0, line, column] = 255
        return images
