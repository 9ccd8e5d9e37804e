"""Parallelograms in a table of factors: four states that differ in two factors."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Traversals
from unbraid.foundation import numpy_generator
from unbraid.metrics._inputs import Factors

from ._traversals import along_each_factor

# Rounds of drawing, because sparse tables often lack the fourth corner.
_ROUNDS = 50


@dataclass(frozen=True, kw_only=True)
class Parallelograms:
    """States a, b, c and d, where d is to c as b is to a.

    Attributes:
        names: The factor in which b differs from a, and that in which c does.
        corners: Row numbers of a, b, c and d, ``(4, n)``.
    """

    names: tuple[str, str]
    corners: NDArray[np.int64]


def draw_parallelograms(
    factors: Factors, n: int, seed: int
) -> Iterator[Parallelograms]:
    """Draw up to ``n`` parallelograms for every pair of factors that has any.

    Args:
        factors: Factors with every combination of values at most once, and no missing
            labels.
        n: Number of parallelograms per pair of factors, drawn with replacement.
        seed: Seed of the drawing.
    """
    lines = [
        (name, _Lines.of(traversals, len(factors)))
        for name, traversals in along_each_factor(factors)
        if traversals is not None
    ]
    for (first, along_first), (second, along_second) in combinations(lines, 2):
        generator = numpy_generator(seed, "parallelograms", first, second)
        found = _draw(along_first, along_second, n, generator)
        if found.shape[1]:
            yield Parallelograms(names=(first, second), corners=found)


@dataclass(frozen=True, kw_only=True)
class _Lines:
    """Position of each row on the traversals of one factor."""

    traversals: Traversals
    starts: NDArray[np.int64]
    keys: NDArray[np.int64]
    index: NDArray[np.int64]
    number: NDArray[np.int64]

    @classmethod
    def of(cls, traversals: Traversals, n_rows: int) -> "_Lines":
        index = np.full(n_rows, -1)
        index[traversals.rows] = np.arange(len(traversals.rows))
        number = np.repeat(np.arange(len(traversals.lengths)), traversals.lengths)
        keys = number * traversals.n_values + traversals.values
        return cls(
            traversals=traversals,
            starts=traversals.starts,
            keys=keys,
            index=index,
            number=number,
        )

    def other(
        self, rows: NDArray[np.int64], generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw, for each row, another row of its traversal."""
        index = self.index[rows]
        number = self.number[index]
        start, length = self.starts[number], self.traversals.lengths[number]
        step = generator.integers(1, length)
        return self.traversals.rows[start + (index - start + step) % length]

    def find(
        self, rows: NDArray[np.int64], like: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return rows on traversals of ``rows`` with values of ``like``; -1 if none."""
        index = self.index[rows]
        key = self.number[index] * self.traversals.n_values
        key += self.traversals.values[self.index[like]]
        at = np.searchsorted(self.keys, key).clip(max=len(self.keys) - 1)
        is_there = (index >= 0) & (self.keys[at] == key)
        return np.where(is_there, self.traversals.rows[at], -1)


def _draw(
    first: _Lines, second: _Lines, n: int, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Draw up to ``n`` parallelograms, and return their rows, ``(4, n)``."""
    corners = np.flatnonzero((first.index >= 0) & (second.index >= 0))
    found, n_found = [np.empty((4, 0), dtype=np.int64)], 0
    for _ in range(_ROUNDS if len(corners) else 0):
        a = corners[generator.integers(0, len(corners), n)]
        b = first.other(a, generator)
        c = second.other(a, generator)
        d = second.find(b, like=c)
        complete = np.stack([a, b, c, d])[:, d >= 0]
        found.append(complete)
        n_found += complete.shape[1]
        if n_found >= n:
            break
    return np.concatenate(found, axis=1)[:, :n]
