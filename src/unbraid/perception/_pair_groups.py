"""Pairs of rows in groups that share images."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.data import FactorSpace, Traversals

GROUP_SIZE = 32
"""Largest number of images per group; that of subsets in the published code."""

_PAIRS_PER_IMAGE = 4


@dataclass(frozen=True, eq=False, kw_only=True)
class PairGroups:
    """Groups of rows, and pairs within the groups.

    Every single pair is drawn uniformly; pairs of the same group share images, which
    makes them cheap.

    Args:
        rows: Rows of the dataset, ``(n_groups, group_size)``.
        group: Group of each pair, ascending, ``(n_pairs,)``.
        first: Index of the first row of each pair in its group, ``(n_pairs,)``.
        second: Index of the second row of each pair in its group, ``(n_pairs,)``; equal
            to ``first`` for an image paired with itself.
    """

    rows: NDArray[np.int64]
    group: NDArray[np.int64]
    first: NDArray[np.int64]
    second: NDArray[np.int64]

    @property
    def is_distinct(self) -> NDArray[np.bool_]:
        """Whether each pair has two different images, ``(n_pairs,)``."""
        return self.first != self.second


def pairs_along_factor(
    space: FactorSpace, factor: str, n_pairs: int, *, generator: np.random.Generator
) -> PairGroups:
    """Draw pairs of a grid that differ in one factor, and images with themselves.

    Args:
        space: Factors of the grid.
        factor: Name of the factor, which has two values or more.
        n_pairs: Number of pairs with different values. Images paired with themselves
            are added, as many as if both values were drawn independently.
        generator: Source of randomness.
    """
    n_values = space.sizes[space.position(factor)]
    size = min(n_values, GROUP_SIZE)
    n_groups = _n_groups(n_pairs, size)
    origins = generator.integers(space.size, size=n_groups)
    rows = space.traversals(factor, origins)
    if size < n_values:
        chosen = generator.random(rows.shape).argsort(axis=1)[:, :size]
        rows = np.take_along_axis(rows, chosen, axis=1)
    return _pairs(rows, n_pairs, round(n_pairs / (n_values - 1)), generator)


def pairs_of_traversals(
    traversals: Traversals, n_pairs: int, *, generator: np.random.Generator
) -> PairGroups:
    """Draw pairs of a table that differ in one factor, and rows with themselves.

    Args:
        traversals: Rows that differ in this factor only.
        n_pairs: Number of pairs with different values, as in
            :func:`pairs_along_factor`; all pairs if there are fewer.
        generator: Source of randomness.
    """
    drawn = traversals.pairs(n_pairs, distinct=True, generator=generator)
    rows = np.stack(drawn, axis=1)
    n_same = round(len(rows) / (traversals.n_values - 1))
    same = np.linspace(0, len(rows) - 1, n_same).astype(np.int64)
    every = np.arange(len(rows))
    return _in_order(
        rows,
        np.concatenate([every, same]),
        np.zeros(len(rows) + n_same, dtype=np.int64),
        np.concatenate([np.ones_like(every), np.zeros_like(same)]),
    )


def random_pairs(
    n_rows: int,
    n_pairs: int,
    *,
    subset_size: int | None,
    generator: np.random.Generator,
) -> PairGroups:
    """Draw pairs of any two rows, and rows with themselves.

    Args:
        n_rows: Number of rows to choose from, at least 2. There may be more than fit
            into memory.
        n_pairs: Number of pairs of different rows.
        subset_size: Size of the subsets from which both rows would be drawn with
            replacement, which decides how many rows are paired with themselves. If not
            given, both would be drawn from all rows.
        generator: Source of randomness.
    """
    size = min(n_rows, subset_size or GROUP_SIZE)
    # Without replacement, and without permuting all rows for each group.
    chosen = [
        generator.choice(n_rows, size, replace=False, shuffle=False)
        for _ in range(_n_groups(n_pairs, size))
    ]
    n_same = round(n_pairs / (min(subset_size or n_rows, n_rows) - 1))
    return _pairs(np.stack(chosen), n_pairs, n_same, generator)


def _n_groups(n_pairs: int, size: int) -> int:
    return -(-n_pairs // (_PAIRS_PER_IMAGE * size))


def _pairs(
    rows: NDArray[np.int64],
    n_pairs: int,
    n_same: int,
    generator: np.random.Generator,
) -> PairGroups:
    """Draw pairs of different and of equal indices, spread over all groups."""
    n_groups, size = rows.shape
    spread = [np.arange(n) * n_groups // max(n, 1) for n in (n_pairs, n_same)]
    first = generator.integers(size, size=n_pairs + n_same)
    step = generator.integers(1, size, size=n_pairs + n_same)
    step[n_pairs:] = 0
    return _in_order(rows, np.concatenate(spread), first, (first + step) % size)


def _in_order(
    rows: NDArray[np.int64],
    group: NDArray[np.int64],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
) -> PairGroups:
    order = np.argsort(group, kind="stable")
    return PairGroups(
        rows=rows, group=group[order], first=first[order], second=second[order]
    )
