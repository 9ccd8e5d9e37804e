"""Which rows stand in the batch of a step, as a function of the seed and the step."""

import abc

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._weighted_rows import WeightedRows

# Rows are drawn for up to so many steps, and so many rows, at a time: making a
# generator costs as much as drawing a small batch.
_STEPS_PER_DRAW = 64
_ROWS_PER_DRAW = 2**16


class AbstractRowOrder(abc.ABC):
    """Row numbers for every step, with no memory of the steps before."""

    @abc.abstractmethod
    def rows(self, step: int) -> NDArray[np.int64]:
        """Rows of one step, ``(size,)``."""


class IndependentRows(AbstractRowOrder):
    """Every row is drawn anew, with replacement, uniformly or by weights."""

    def __init__(
        self, n_rows: int, size: int, seed: int, weights: NDArray[np.float64] | None
    ) -> None:
        self._size, self._seed = size, seed
        self._n_steps = max(1, min(_STEPS_PER_DRAW, _ROWS_PER_DRAW // size))
        self._table = WeightedRows(n_rows, weights)
        # One tuple, so that a thread never sees the rows of another block.
        self._latest = (-1, np.empty((0, size), dtype=np.int64))

    def rows(self, step: int) -> NDArray[np.int64]:
        """Rows of one step, ``(size,)``."""
        block, position = divmod(step, self._n_steps)
        latest = self._latest
        if latest[0] != block:
            latest = self._latest = (block, self._draw(block))
        return latest[1][position]

    def _draw(self, block: int) -> NDArray[np.int64]:
        generator = numpy_generator(self._seed, "rows", block)
        drawn = self._table.draw((self._n_steps, self._size), generator)
        drawn.setflags(write=False)  # callers get views of it
        return drawn


class ShuffledRows(AbstractRowOrder):
    """Every row once, then every row once more in another order, and so on."""

    def __init__(self, n_rows: int, size: int, seed: int) -> None:
        self._n_rows, self._size, self._seed = n_rows, size, seed
        self._latest = (-1, np.empty(0, dtype=np.int64))

    def rows(self, step: int) -> NDArray[np.int64]:
        """Rows of one step, ``(size,)``; a step may straddle two rounds."""
        pieces, start, wanted = [], step * self._size, self._size
        while wanted:
            number, offset = divmod(start, self._n_rows)
            piece = self._order(number)[offset : offset + wanted]
            pieces.append(piece)
            start, wanted = start + len(piece), wanted - len(piece)
        return np.concatenate(pieces)

    def _order(self, number: int) -> NDArray[np.int64]:
        latest = self._latest
        if latest[0] != number:
            generator = numpy_generator(self._seed, "round", number)
            latest = self._latest = (number, generator.permutation(self._n_rows))
        return latest[1]
