"""Index of a factor table: rows that agree in all but some factors."""

import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


class RowIndex:
    """Groups of rows that agree in all factors outside of a set, for any set.

    Sorting by the factors outside of the set makes such rows adjacent in :attr:`rows`.
    The order for a set is computed at its first use, and kept.

    Args:
        table: Factor values, shape ``(n_rows, n_factors)``.
        strides: Change of the number of a combination with each factor.
        n_sets: Largest number of different sets that will be used; a set takes 4 to 20
            bytes per row.

    Example:
        >>> table = np.array([[0, 0], [0, 1], [1, 1]])
        >>> index = RowIndex(table, np.array([2, 1]), n_sets=2)
        >>> start, count = index.locate(table[:1], np.array([[False, True]]))
        >>> index.rows[start[0] : start[0] + count[0]]
        array([0, 1], dtype=int32)
    """

    def __init__(
        self, table: NDArray[np.int64], strides: NDArray[np.int64], *, n_sets: int
    ) -> None:
        self._table, self._strides = table, strides
        self._powers = 2 ** np.arange(len(strides))
        self._groups: dict[int, _Groups] = {}
        # Memory is only used once it is written to, so that this costs nothing.
        self._orders = np.empty((n_sets, len(table)), dtype=np.int32)
        self._lock = threading.Lock()

    @property
    def rows(self) -> NDArray[np.int32]:
        """Rows of the table, sorted by set and group."""
        return self._orders.reshape(-1)

    def locate(
        self, values: NDArray[np.int64], changed: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Locate the rows that agree with given values in all but some factors.

        Args:
            values: Factor values, shape ``(n, n_factors)``.
            changed: Factors that need not agree, of the same shape.

        Returns:
            Start of the group in :attr:`rows`, and the number of rows in it, which may
            be 0; shape ``(n,)`` each.
        """
        keys = np.where(changed, 0, values) @ self._strides
        starts, counts = np.empty_like(keys), np.empty_like(keys)
        sets, which = np.unique(changed @ self._powers, return_inverse=True)
        for index, factors in enumerate(sets):
            members = np.flatnonzero(which == index)
            groups = self._groups.get(factors) or self._sort(int(factors))
            starts[members], counts[members] = groups.locate(keys[members])
        return starts, counts

    def _sort(self, factors: int) -> "_Groups":
        with self._lock:
            if factors not in self._groups:  # another thread may have been faster
                self._groups[factors] = self._sorted(factors)
            return self._groups[factors]

    def _sorted(self, factors: int) -> "_Groups":
        is_outside = factors & self._powers == 0
        keys = self._table @ (self._strides * is_outside)
        order = np.argsort(keys, kind="stable")
        distinct, firsts = np.unique(keys[order], return_index=True)
        index = len(self._groups)
        self._orders[index] = order
        ends = np.append(firsts, len(keys)) + index * len(keys)
        return _Groups(distinct, ends)


@dataclass(frozen=True, eq=False)
class _Groups:
    keys: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def locate(
        self, keys: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        groups = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        starts = self.bounds[groups]
        counts = self.bounds[groups + 1] - starts
        return starts, np.where(self.keys[groups] == keys, counts, 0)
