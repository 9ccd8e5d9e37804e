"""Rows of a table found by their factor values, if every combination is there."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.metrics._inputs import Factors


@dataclass(frozen=True)
class Grid:
    """A table of codes in which every combination of factor values has a row.

    Attributes:
        labels: Class numbers of the rows, ``(n_rows, n_factors)``.
        rows: Row of each combination, shape ``sizes``; the first one if there are more.
    """

    labels: NDArray[np.int64]
    rows: NDArray[np.int64]

    def changed(
        self,
        rows: NDArray[np.integer],
        factor: int,
        values: int | NDArray[np.integer],
    ) -> NDArray[np.int64]:
        """Rows that differ from the given ones in one factor, which has these values.

        Args:
            rows: Row numbers, ``(n,)``.
            factor: Column of the factor to change.
            values: Class numbers, one, or any shape that broadcasts with ``(n,)``.

        Returns:
            Row numbers, in the shape of rows and values broadcast together.
        """
        wanted = list(self.labels[rows].T)
        wanted[factor] = np.asarray(values)
        return self.rows[tuple(wanted)]


def complete_grid(factors: Factors) -> Grid | None:
    """The grid of a table; ``None`` if labels are missing or combinations absent.

    Example:
        >>> factors = Factors([[0, 5], [1, 5], [0, 7], [1, 7]])
        >>> grid = complete_grid(factors)
        >>> grid.changed(np.array([0, 3]), 1, np.array([1, 0]))
        array([2, 1])
        >>> complete_grid(Factors([[0, 5], [1, 5], [0, 7]])) is None
        True
    """
    if math.prod(factors.sizes) > len(factors) or not factors.known.all():
        return None
    rows = np.full(factors.sizes, -1, dtype=np.int64)
    # Backwards, so that the first of several rows is the one that stays.
    rows[tuple(factors.labels[::-1].T)] = np.arange(len(factors))[::-1]
    return Grid(factors.labels, rows) if rows.min() >= 0 else None
