"""Scores along traversals: rows of a table that differ in one factor only."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Traversals, traversals_of_table
from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

LEAST_TRAVERSALS = 10
"""Smallest number of complete traversals of a factor that are averaged."""


def along_each_factor(factors: Factors) -> Iterator[tuple[str, Traversals | None]]:
    """Yield the traversals of every factor, ``None`` if no two rows form one.

    Rows with a missing label belong to no traversal. Continuous factors are shared
    only if they are exactly equal.
    """
    rows = np.flatnonzero(factors.known.all(axis=1))
    classes, sizes = _classes(factors, rows)
    found = traversals_of_table(rows, classes, sizes)
    yield from zip(factors.names, found, strict=True)


def complete_along_each_factor(
    factors: Factors,
) -> Iterator[tuple[str, Traversals | None]]:
    """Yield the complete traversals of every factor, ``None`` if there are too few.

    A complete traversal has every value that the factor has in the table. Fewer than
    ten are enough only if all rows lie on one of them, so that no other ones exist.
    """
    n_rows = int(factors.known.all(axis=1).sum())
    for factor, traversals in along_each_factor(factors):
        complete = None if traversals is None else traversals.complete()
        is_enough = complete is not None and (
            len(complete.lengths) >= LEAST_TRAVERSALS or len(complete.rows) == n_rows
        )
        yield factor, complete if is_enough else None


def half_of_traversals(
    factors: Factors, generator: np.random.Generator
) -> NDArray[np.int64] | None:
    """Return the rows of a random half of the complete traversals of each factor.

    Returns:
        Row numbers, or ``None`` if the halves of a factor would be too few, or if those
        of all factors together have most rows, as in a complete grid.
    """
    parts = []
    for _, traversals in complete_along_each_factor(factors):
        n = 0 if traversals is None else len(traversals.lengths)
        if traversals is None or n < 2 * LEAST_TRAVERSALS:
            return None
        half = np.sort(generator.permutation(n)[: n // 2])
        parts.append(traversals.at(half).rows)
    rows = np.unique(np.concatenate(parts))
    return rows if len(rows) < 0.6 * len(factors) else None


def score_over_factors(
    per_factor: Mapping[str, float],
    factors: Factors,
    *,
    name: str,
    variant: str,
    seed: int,
    details: Mapping[str, float],
    notes: Sequence[str],
) -> Score:
    """Return the geometric mean over factors; negative values count as 0."""
    parts = np.clip(list(per_factor.values()), 0.0, None)
    geometric = float(np.exp(np.log(parts).mean())) if parts.all() else 0.0
    return Score(
        geometric,
        name=name,
        variant=variant,
        per_factor=per_factor,
        factors_used=(len(per_factor), factors.n_factors),
        details={
            "arithmetic_mean": float(np.mean(list(per_factor.values()))),
            **details,
        },
        seed=seed,
        note="; ".join(notes),
    )


def no_traversals(caller: str, factors: Factors, hint: str) -> ValueError:
    """Return the error for a table in which no two rows differ in one factor only."""
    known = int(factors.known.all(axis=1).sum())
    return ValueError(
        f"{caller} needs rows that differ in one factor only, but there are none among "
        f"the {known} rows (of {len(factors)}) that have all labels. {hint}"
    )


def _classes(
    factors: Factors, rows: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """Return class numbers of each factor by exact value, and numbers of classes."""
    classes = [
        np.unique(factors.values[rows, column], return_inverse=True)[1]
        if is_binned
        else factors.labels[rows, column]
        for column, is_binned in enumerate(factors.is_binned)
    ]
    return classes, [int(labels.max(initial=-1)) + 1 for labels in classes]
