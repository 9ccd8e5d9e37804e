"""Scores along traversals: rows of a table that differ in one factor only."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.data._traversals import Traversals, traversals_of_table
from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score


def along_each_factor(factors: Factors) -> Iterator[tuple[str, Traversals | None]]:
    """Traversals of every factor in turn, ``None`` where no two rows form one.

    Rows with a missing label belong to no traversal. Continuous factors must agree
    exactly to be shared.
    """
    rows = np.flatnonzero(factors.known.all(axis=1))
    classes, sizes = _classes(factors, rows)
    found = traversals_of_table(rows, classes, sizes)
    yield from zip(factors.names, found, strict=True)


def score_over_factors(
    per_factor: Mapping[str, float],
    *,
    name: str,
    variant: str,
    seed: int,
    coverage: Sequence[float],
    notes: Sequence[str],
) -> Score:
    """Geometric mean over factors, a negative part counting as zero."""
    parts = np.clip(list(per_factor.values()), 0.0, None)
    geometric = float(np.exp(np.log(parts).mean())) if parts.all() else 0.0
    return Score(
        geometric,
        name=name,
        variant=variant,
        per_factor=per_factor,
        details={
            "arithmetic_mean": float(np.mean(list(per_factor.values()))),
            "coverage": float(np.mean(coverage)),
        },
        seed=seed,
        note="; ".join(notes),
    )


def no_traversals(who: str, factors: Factors, hint: str) -> ValueError:
    """The error for a table in which no two rows differ in one factor only."""
    known = int(factors.known.all(axis=1).sum())
    return ValueError(
        f"{who}: expected rows that differ in one factor only, got none among the "
        f"{known} rows (of {len(factors)}) that have all labels. {hint}"
    )


def _classes(
    factors: Factors, rows: NDArray[np.int64]
) -> tuple[list[NDArray[np.int64]], list[int]]:
    """Class numbers of each factor by exact value, and how many there are."""
    classes = [
        np.unique(factors.values[rows, column], return_inverse=True)[1]
        if kind == "continuous"
        else factors.labels[rows, column]
        for column, kind in enumerate(factors.kinds)
    ]
    return classes, [int(labels.max(initial=-1)) + 1 for labels in classes]
