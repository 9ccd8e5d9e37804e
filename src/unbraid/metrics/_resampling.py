"""Drawing rows of a table that share the value of one factor."""

import numpy as np
from numpy.typing import NDArray

from ._grid import is_complete_grid
from ._inputs import Factors


class SharedFactorRows:
    """Draws groups of rows in which one factor has the same value.

    The first row of a group is drawn uniformly from all rows; the others are drawn
    with replacement from the rows with the same value of the factor. On a complete grid
    this is the published protocol: every factor is uniform and independent, one of them
    is fixed. On any other table, values are fixed as often as they occur, and the other
    factors vary as they do among the rows with this value.

    Args:
        factors: Factors of the table. Continuous factors share a value when they fall
            into the same bin; rows where the factor is missing are not drawn for it.

    Example:
        >>> factors = Factors([[0, 5], [0, 6], [1, 5], [1, 6]])
        >>> generator = np.random.default_rng(0)
        >>> rows = SharedFactorRows(factors).draw(
        ...     np.array([0, 1]), size=3, generator=generator
        ... )
        >>> factors.labels[rows[0], 0].std(), factors.labels[rows[1], 1].std()
        (np.float64(0.0), np.float64(0.0))
    """

    def __init__(self, factors: Factors) -> None:
        sizes = np.array(factors.sizes)
        self.n_factors = factors.n_factors
        self._labels = factors.labels
        self._n_missing = (factors.labels < 0).sum(axis=0)
        self._first_class = np.cumsum(sizes) - sizes
        # Rows of each factor sorted by class, missing labels first. In this order the
        # rows of a class are contiguous, which makes drawing from them simple.
        self._order = np.stack(
            [
                _order(labels, size)
                for labels, size in zip(factors.labels.T, factors.sizes, strict=True)
            ]
        )
        self._run_length = np.concatenate(
            [
                np.bincount(labels[labels >= 0], minlength=size)
                for labels, size in zip(factors.labels.T, factors.sizes, strict=True)
            ]
        )
        # A class starts after the missing labels and the classes before it.
        before = np.cumsum(self._run_length) - self._run_length
        before -= np.repeat(before[self._first_class], sizes)
        self._run_start = before + np.repeat(self._n_missing, sizes)

    def draw(
        self,
        factor: NDArray[np.integer],
        *,
        size: int,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw groups of rows that share the value of a factor.

        Args:
            factor: Column of the factor that each group shares, ``(n_groups,)``.
            size: Rows per group.
            generator: Source of randomness.

        Returns:
            Row numbers, ``(n_groups, size)``.
        """
        index = generator.integers(self._n_missing[factor], self._order.shape[1])
        first = self._order[factor, index]
        run = self._first_class[factor] + self._labels[first, factor]
        shape = (len(factor), size - 1)
        steps = generator.integers(0, self._run_length[run][:, None], size=shape)
        others = self._order[factor[:, None], self._run_start[run][:, None] + steps]
        return np.column_stack([first, others])


def grid_note(factors: Factors) -> str:
    """Return a note for scores by resampling, empty on a complete grid."""
    if is_complete_grid(factors):
        return ""
    return "the rows are not a complete grid: values occur as often as in the table"


def _order(labels: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    # numpy sorts integers of one or two bytes in linear time.
    return np.argsort(labels.astype(np.min_scalar_type(-size)), kind="stable")
