"""Reading of several training steps in one call, which is faster for small images."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset

_BYTES_AT_ONCE = 2**19
_STEPS_AT_ONCE = 32


class ReadAhead:
    """Images and labels of steps; small images are read for several steps at once.

    Args:
        dataset: Dataset to read.
        rows: Function that returns the row numbers of a step, ``(n_rows,)``.
        n_rows: Number of rows per step.
    """

    def __init__(
        self,
        dataset: AbstractDataset,
        rows: Callable[[int], NDArray[np.int64]],
        n_rows: int,
    ) -> None:
        self._dataset, self._rows, self._n_rows = dataset, rows, n_rows
        n_bytes = n_rows * math.prod(dataset.image_shape)
        self._n_steps = max(1, min(_STEPS_AT_ONCE, _BYTES_AT_ONCE // n_bytes))
        # One tuple, so that a thread never sees parts of two blocks.
        self._latest: tuple[int, NDArray[Any], NDArray[Any] | None] | None = None

    def step(self, step: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Return images and labels of a step; the caller must not write to them."""
        block, position = divmod(step, self._n_steps)
        latest = self._latest
        if latest is None or latest[0] != block:
            latest = (block, *self._read(block))
            if self._n_steps > 1:
                self._latest = latest
        part = slice(position * self._n_rows, (position + 1) * self._n_rows)
        _, images, factors = latest
        return images[part], None if factors is None else factors[part]

    def _read(self, block: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        first = block * self._n_steps
        steps = range(first, first + self._n_steps)
        rows = np.concatenate([self._rows(step) for step in steps])
        return self._dataset.images(rows), self._dataset.factors(rows)
