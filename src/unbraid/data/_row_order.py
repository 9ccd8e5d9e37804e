"""Rows of the batch of a step, as a function of the seed and the step."""

import abc

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._weighted_rows import WeightedRows

# Rows are drawn for several steps at a time, up to these limits: creating a generator
# costs as much as drawing a small batch.
_STEPS_PER_DRAW = 64
_ROWS_PER_DRAW = 2**16


class AbstractRowOrder(abc.ABC):
    """Row numbers of every step, independent of the previous steps."""

    @abc.abstractmethod
    def rows(self, step: int) -> NDArray[np.int64]:
        """Return the rows of a step, ``(size,)``."""


class IndependentRows(AbstractRowOrder):
    """Rows drawn with replacement, uniformly or by weights."""

    def __init__(
        self, n_rows: int, size: int, seed: int, weights: NDArray[np.float64] | None
    ) -> None:
        self._size, self._seed = size, seed
        self._n_steps = max(1, min(_STEPS_PER_DRAW, _ROWS_PER_DRAW // size))
        self._table = WeightedRows(n_rows, weights)
        # One tuple, so that a thread never sees the rows of another block.
        self._latest = (-1, np.empty((0, size), dtype=np.int64))

    def rows(self, step: int) -> NDArray[np.int64]:
        """Return the rows of a step, ``(size,)``."""
        block, position = divmod(step, self._n_steps)
        latest = self._latest
        if latest[0] != block:
            latest = self._latest = (block, self._draw(block))
        return latest[1][position]

    def _draw(self, block: int) -> NDArray[np.int64]:
        generator = numpy_generator(self._seed, "rows", block)
        drawn = self._table.draw((self._n_steps, self._size), generator)
        drawn.setflags(write=False)  # views of it are returned
        return drawn


class ShuffledRows(AbstractRowOrder):
    """Epochs in which every row occurs once, each in a new order."""

    def __init__(self, n_rows: int, size: int, seed: int) -> None:
        self._n_rows, self._size, self._seed = n_rows, size, seed
        self._latest = (-1, np.empty(0, dtype=np.int64))

    def rows(self, step: int) -> NDArray[np.int64]:
        """Return the rows of a step, ``(size,)``, which may be from two epochs."""
        pieces, start, missing = [], step * self._size, self._size
        while missing:
            epoch, offset = divmod(start, self._n_rows)
            piece = self._order(epoch)[offset : offset + missing]
            pieces.append(piece)
            start, missing = start + len(piece), missing - len(piece)
        return np.concatenate(pieces)

    def _order(self, epoch: int) -> NDArray[np.int64]:
        latest = self._latest
        if latest[0] != epoch:
            generator = numpy_generator(self._seed, "round", epoch)
            latest = self._latest = (epoch, generator.permutation(self._n_rows))
        return latest[1]
