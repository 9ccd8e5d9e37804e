"""Search for rows that differ from given factor values in exactly some factors.

Factor values are those of the factors that can vary (size above 1). ``changed`` marks,
for each anchor, those that must change: booleans of the same shape, ``(n, n_varying)``.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._row_index import RowIndex

# Values tried for one set of factors before its rows are searched.
_PROPOSALS = 8
# In a table with a smaller share of all combinations, no value is tried.
_LEAST_SHARE = 0.1
# Rows of one group that are compared at once.
_WINDOW = 32
# Rows times sets of the largest index, about 300 MB.
_MOST_ENTRIES = 2**24


@dataclass(frozen=True, eq=False)
class GridPartners:
    """Partners in a complete grid of all combinations.

    Args:
        sizes: Number of values of each varying factor.
        must_differ: Whether a changed factor gets a different value, or any value.
    """

    sizes: NDArray[np.int64]
    must_differ: bool

    def find(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return a row for each anchor, shape ``(n,)``."""
        return self.propose(values, changed, generator=generator) @ self.strides

    def propose(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return factor values with new uniform values of the changed factors."""
        if self.must_differ:
            steps = generator.integers(1, self.sizes, size=values.shape)
            fresh = (values + steps) % self.sizes
        else:
            fresh = generator.integers(0, self.sizes, size=values.shape)
        return np.where(changed, fresh, values)

    @property
    def strides(self) -> NDArray[np.int64]:
        """Change of the index when each varying factor changes by one."""
        return np.append(np.cumprod(self.sizes[:0:-1])[::-1], 1)


class TablePartners:
    """Partners in a table of some combinations, any number of times each.

    For a set of changed factors, every row that fits is equally likely. Values are
    first proposed as in a grid, and looked up. If none exists, rows are searched among
    those that agree in the other factors.

    Args:
        table: Values of the varying factors, shape ``(n_rows, n_varying)``.
        sizes: Number of values of each varying factor.
        must_differ: Whether a changed factor gets a different value, or any value.
        n_sets: Number of sets of changed factors that may be requested. If they are too
            many for an index, all rows are compared instead.
    """

    def __init__(
        self,
        table: NDArray[np.int64],
        sizes: NDArray[np.int64],
        *,
        must_differ: bool,
        n_sets: int,
    ) -> None:
        self._is_indexed = n_sets * len(table) <= _MOST_ENTRIES
        self._table = table
        # In the memory layout and type for which comparing all rows is fastest.
        smallest = np.min_scalar_type(int(sizes.max()))
        self._columns = np.ascontiguousarray(table.T, dtype=smallest)
        self._grid = GridPartners(sizes, must_differ)
        self._index = RowIndex(
            table, self._grid.strides, n_sets=1 + n_sets * self._is_indexed
        )
        _, counts = self._index.locate(table, np.zeros(table.shape, dtype=bool))
        self._most_alike = int(counts.max())
        share = len(table) / (self._most_alike * np.prod(sizes, dtype=np.float64))
        self._n_proposals = _PROPOSALS if share >= _LEAST_SHARE else 0

    def find(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return a row for each anchor, shape ``(n,)``; -1 if none fits."""
        rows = np.full(len(values), -1, dtype=np.int64)
        searches = [self._propose] * self._n_proposals
        searches.append(self._search if self._is_indexed else self._scan)
        for search in searches:
            pending = np.flatnonzero(rows < 0)
            if pending.size:
                rows[pending] = search(values[pending], changed[pending], generator)
        return rows

    @property
    def is_quick(self) -> bool:
        """Whether ``find`` usually does not compare all rows."""
        return self._is_indexed or self._n_proposals > 0

    def find_any(
        self,
        values: NDArray[np.int64],
        *,
        fewest: int,
        most: int,
        generator: np.random.Generator,
    ) -> int:
        """Return a row for one anchor, for any factors; -1 if no row differs from it.

        Every number of changed factors from ``fewest`` to ``most`` that occurs is
        equally likely (if none does, the closest ones), and so is every row with that
        number. Compares all rows.
        """
        n_changed = self._differs(values).sum(axis=0, dtype=np.uint8)
        numbers = np.flatnonzero(np.bincount(n_changed)[1:]) + 1
        if not numbers.size:
            return -1
        excess = np.maximum(fewest - numbers, numbers - most).clip(0)
        number = _one_of(numbers[excess == excess.min()], generator)
        return _one_of(np.flatnonzero(n_changed == number), generator)

    def _propose(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Return rows of proposed values; -1 if they do not exist."""
        fresh = self._grid.propose(values, changed, generator=generator)
        starts, counts = self._index.locate(fresh, np.zeros_like(changed))
        # One number decides whether to accept a combination, in proportion to its
        # number of rows, and which of these rows to take.
        picks = generator.integers(0, self._most_alike, size=len(values))
        exists = picks < counts
        return np.where(exists, self._index.rows[starts + picks * exists], -1)

    def _search(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Search small groups of rows completely, and large ones by samples first."""
        starts, counts = (each[:, None] for each in self._index.locate(values, changed))
        shape = (len(values), _WINDOW)
        drawn = (generator.random(shape) * counts).astype(np.int64)
        offsets = np.where(counts > _WINDOW, drawn, np.arange(_WINDOW))
        is_member = offsets < counts
        rows = self._index.rows[starts + offsets * is_member]
        differs = self._table[rows] != values[:, None]
        fits = self._fits(differs, changed[:, None]) & is_member
        # The largest of random numbers, so that every row that fits is equally likely.
        best = np.where(fits, generator.random(shape), -1.0).argmax(axis=1)
        found = np.where(fits.any(axis=1), rows[np.arange(len(values)), best], -1)
        for index in np.flatnonzero((found < 0) & (counts[:, 0] > _WINDOW)):
            start, count = starts[index, 0], counts[index, 0]
            group = self._index.rows[start : start + count]
            differs = self._table[group] != values[index]
            fits = self._fits(differs, changed[index])
            found[index] = _one_of(group[fits], generator)
        return found

    def _scan(
        self,
        values: NDArray[np.int64],
        changed: NDArray[np.bool_],
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Compare all rows with each anchor."""
        found = np.empty(len(values), dtype=np.int64)
        for index in range(len(values)):
            differs = self._differs(values[index]).T
            fits = self._fits(differs, changed[index])
            found[index] = _one_of(np.flatnonzero(fits), generator)
        return found

    def _differs(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return where each row differs from an anchor, ``(n_varying, n_rows)``."""
        return self._columns != values.astype(self._columns.dtype)[:, None]

    def _fits(
        self, differs: NDArray[np.bool_], changed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        is_right = differs == changed if self._grid.must_differ else ~differs | changed
        return np.logical_and.reduce(is_right, axis=-1)


def _one_of(rows: NDArray[np.integer], generator: np.random.Generator) -> int:
    return int(generator.choice(rows)) if rows.size else -1
