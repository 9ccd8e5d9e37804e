"""Grids: tables with one row for each combination of factor values."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._inputs import Factors


@dataclass(frozen=True)
class Grid:
    """A table of codes in which every combination of factor values has one row.

    Attributes:
        labels: Class numbers of the rows, ``(n_rows, n_factors)``.
        rows: Row of each combination, shape ``sizes``.
    """

    labels: NDArray[np.int64]
    rows: NDArray[np.int64]

    def change(
        self,
        rows: NDArray[np.integer],
        factor: int,
        values: int | NDArray[np.integer],
    ) -> NDArray[np.int64]:
        """Return the rows with other values of one factor.

        Args:
            rows: Row numbers, ``(n,)``.
            factor: Column of the factor to change.
            values: New class numbers, of a shape that broadcasts with ``(n,)``.

        Returns:
            Row numbers, in the shape of rows and values broadcast together.
        """
        wanted = list(self.labels[rows].T)
        wanted[factor] = np.asarray(values)
        return self.rows[tuple(wanted)]


def complete_grid(factors: Factors) -> Grid | None:
    """Return the grid of a table; ``None`` if it is not one.

    A table with several rows per combination is not a grid, because changing a factor
    does not lead to a single row.

    Example:
        >>> factors = Factors([[0, 5], [1, 5], [0, 7], [1, 7]])
        >>> grid = complete_grid(factors)
        >>> grid.change(np.array([0, 3]), 1, np.array([1, 0]))
        array([2, 1])
        >>> complete_grid(Factors([[0, 5], [1, 5], [0, 7]])) is None
        True
    """
    if not is_complete_grid(factors):
        return None
    rows = np.empty(factors.sizes, dtype=np.int64)
    rows[tuple(factors.labels.T)] = np.arange(len(factors))
    return Grid(factors.labels, rows)


def is_complete_grid(factors: Factors) -> bool:
    """Return whether every combination of factor values occurs exactly once."""
    if len(factors) != math.prod(factors.sizes) or not factors.known.all():
        return False
    cells = np.ravel_multi_index(tuple(factors.labels.T), factors.sizes)
    return bool((np.bincount(cells, minlength=len(factors)) == 1).all())
