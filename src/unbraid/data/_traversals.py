"""Traversals: rows of a grid or table that differ in one factor only."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, kw_only=True)
class Traversals:
    """Traversals of one factor: rows that agree in all other factors.

    Args:
        rows: Row numbers ``(n,)`` of all traversals, each in ascending order of the
            factor.
        values: Class number of the factor in each of these rows, ``(n,)``.
        lengths: Number of rows of each traversal, ``(n_traversals,)``, with sum ``n``.
        n_values: Number of values of the factor in the whole table.
    """

    rows: NDArray[np.int64]
    values: NDArray[np.int64]
    lengths: NDArray[np.int64]
    n_values: int

    @property
    def starts(self) -> NDArray[np.int64]:
        """Start of each traversal in ``rows``, ``(n_traversals,)``."""
        return np.cumsum(self.lengths) - self.lengths

    @property
    def n_seen(self) -> NDArray[np.int64]:
        """Number of different values on each traversal, ``(n_traversals,)``."""
        return np.add.reduceat(self._is_new(), self.starts, dtype=np.int64)

    @property
    def coverage(self) -> float:
        """Mean share of the factor's values on a traversal; 1 in a complete grid."""
        mean = np.average(self.n_seen, weights=self.lengths)
        return float(mean) / self.n_values

    @property
    def is_complete(self) -> bool:
        """Whether every traversal has every value of the factor exactly once."""
        all_values = (self.lengths == self.n_values).all()
        return bool(all_values and self._is_new().all())

    def at(self, chosen: NDArray[np.integer]) -> "Traversals":
        """Select some of the traversals.

        Args:
            chosen: Indices of the traversals to keep, in ascending order.
        """
        is_kept = np.zeros(len(self.lengths), dtype=bool)
        is_kept[chosen] = True
        kept = np.repeat(is_kept, self.lengths)
        return Traversals(
            rows=self.rows[kept],
            values=self.values[kept],
            lengths=self.lengths[is_kept],
            n_values=self.n_values,
        )

    def complete(self) -> "Traversals":
        """Select the traversals that have every value of the factor at least once."""
        return self.at(np.flatnonzero(self.n_seen == self.n_values))

    def pairs(
        self, n_pairs: int, *, distinct: bool, generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return pairs of rows of the same traversal, all or drawn at random.

        Args:
            n_pairs: Number of pairs to draw, with replacement. If there are not more
                pairs than this, all are returned, unless traversals lack values and
                ``distinct`` is false.
            distinct: Whether to exclude pairs with equal values, such as a row with
                itself. Otherwise these are as frequent as on a complete traversal, so
                that a sparse table is not easier.
            generator: Source of randomness.

        Returns:
            Row numbers of the first and of the second row of each pair.
        """
        start, length = self._equal_values()
        mix_in_equal = not distinct and not self.is_complete
        if not distinct and not mix_in_equal:
            length = np.zeros_like(length)  # no pair is skipped
        partners = np.repeat(self.lengths, self.lengths) - length
        until = np.cumsum(partners)
        total = int(until[-1])
        # Each number below the total is one pair: a first row and its partner.
        if total <= n_pairs and not mix_in_equal:
            number = np.arange(total)
        else:
            # Sorted, so that memory is read in order.
            number = np.sort(generator.integers(0, total, n_pairs))
        first = np.searchsorted(until, number, side="right")
        second = np.repeat(self.starts, self.lengths)[first] + number
        second -= until[first] - partners[first]
        second += np.where(second >= start[first], length[first], 0)
        if mix_in_equal:
            agree = generator.random(n_pairs) < 1.0 / self.n_values
            at = first[agree]
            second[agree] = start[at] + generator.integers(0, length[at])
        return self.rows[first], self.rows[second]

    def _equal_values(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return start and length of the sequence of equal values around each row."""
        starts = np.flatnonzero(self._is_new())
        lengths = np.diff(starts, append=len(self.rows))
        return np.repeat(starts, lengths), np.repeat(lengths, lengths)

    def _is_new(self) -> NDArray[np.bool_]:
        """Return whether each row is the first of its traversal with its value."""
        is_new = np.diff(self.values, prepend=-1) != 0
        is_new[self.starts] = True
        return is_new


def traversals_of_table(
    rows: NDArray[np.int64], classes: Sequence[NDArray[np.int64]], sizes: Sequence[int]
) -> Iterator[Traversals | None]:
    """Iterate over the traversals of each factor, ``None`` if there are none.

    In a complete grid, with rows in any order, traversals are found by arithmetic; any
    other table is sorted.

    Args:
        rows: Row numbers ``(n,)``.
        classes: Class numbers of each factor in these rows, from 0.
        sizes: Number of classes of each factor.
    """
    grid = _grid(rows, classes, sizes)
    for column in range(len(sizes)):
        if grid is None:
            yield _in_table(rows, classes, sizes, column)
        else:
            yield _in_grid(grid, column)


def all_rows(rows: NDArray[np.int64]) -> Traversals:
    """Return a single traversal of all given rows, for pairs of any rows."""
    return Traversals(
        rows=rows,
        values=np.arange(len(rows)),
        lengths=np.array([len(rows)]),
        n_values=len(rows),
    )


def _grid(
    rows: NDArray[np.int64], classes: Sequence[NDArray[np.int64]], sizes: Sequence[int]
) -> NDArray[np.int64] | None:
    """Return the row of each combination, shape ``sizes``, if each occurs once."""
    if not len(rows) or math.prod(sizes) != len(rows):
        return None
    cells = np.ravel_multi_index(tuple(classes), sizes)
    grid = np.full(len(rows), -1, dtype=np.int64)
    grid[cells] = rows
    return grid.reshape(sizes) if (grid >= 0).all() else None


def _in_grid(grid: NDArray[np.int64], column: int) -> Traversals:
    size = grid.shape[column]
    n_traversals = grid.size // size
    return Traversals(
        rows=np.moveaxis(grid, column, -1).ravel(),
        values=np.tile(np.arange(size), n_traversals),
        lengths=np.full(n_traversals, size),
        n_values=size,
    )


def _in_table(
    rows: NDArray[np.int64],
    classes: Sequence[NDArray[np.int64]],
    sizes: Sequence[int],
    column: int,
) -> Traversals | None:
    if not len(rows):
        return None
    columns = [i for i in range(len(sizes)) if i != column] + [column]
    number = _number_combinations([classes[i] for i in columns])
    order = np.argsort(number, kind="stable")
    rows = rows[order]
    shared, values = np.divmod(number[order], sizes[column])
    starts = np.flatnonzero(np.diff(shared, prepend=-1))
    lengths = np.diff(starts, append=len(rows))
    varies = values[starts] != values[starts + lengths - 1]
    if not varies.any():
        return None
    kept = np.repeat(varies, lengths)
    return Traversals(
        rows=rows[kept],
        values=values[kept],
        lengths=lengths[varies],
        n_values=sizes[column],
    )


def _number_combinations(classes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return one number per row, in lexicographic order of the factors."""
    number = np.zeros(len(classes[0]), dtype=np.int64)
    n_numbers = 1
    for labels in classes:
        size = int(labels.max()) + 1
        if n_numbers * size >= 2**62:  # number only the combinations that occur
            number = np.unique(number, return_inverse=True)[1]
            n_numbers = int(number.max()) + 1
        number = number * size + labels
        n_numbers *= size
    return number
