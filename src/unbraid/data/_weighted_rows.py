"""Draws of rows with replacement, uniformly or by weights."""

import numpy as np
from numpy.typing import NDArray


class WeightedRows:
    """Distribution over the rows of a table.

    Args:
        n_rows: Number of rows.
        weights: Relative frequency of each row, ``(n_rows,)``. Default: uniform.
    """

    def __init__(self, n_rows: int, weights: NDArray[np.float64] | None) -> None:
        self._n_rows = n_rows
        self._possible = None
        if weights is not None:
            # Without rows of weight 0, because rounding could draw the last of them.
            self._possible = np.flatnonzero(weights > 0)
            possible = weights[self._possible]
            self._cumulative = np.cumsum(possible / possible.max())  # no overflow

    def draw(
        self, shape: tuple[int, ...], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw an array of row numbers of a shape."""
        if self._possible is None:
            return generator.integers(0, self._n_rows, size=shape)
        heights = generator.random(shape) * self._cumulative[-1]
        drawn = np.searchsorted(self._cumulative, heights, side="right")
        return self._possible[drawn.clip(max=len(self._possible) - 1)]
