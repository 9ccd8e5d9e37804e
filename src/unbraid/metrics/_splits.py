"""Splits of rows into training and test rows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Split:
    """Rows to learn from and rows to test on.

    Attributes:
        train: Row numbers, ``(n_train,)``.
        test: Row numbers, ``(n_test,)``.
    """

    train: NDArray[np.integer]
    test: NDArray[np.integer]


def split_rows(
    n_rows: int,
    *,
    n_train: int = 10_000,
    n_test: int = 5_000,
    generator: np.random.Generator,
) -> Split:
    """Draw disjoint random rows; a smaller table is divided in the same ratio.

    Args:
        n_rows: Number of rows of the table.
        n_train: Number of rows to learn from.
        n_test: Number of rows to test on.
        generator: Source of randomness.

    Example:
        >>> split = split_rows(30, generator=np.random.default_rng(0))
        >>> len(split.train), len(split.test)
        (20, 10)
    """
    if n_rows < n_train + n_test:
        n_train, n_test = _shares(n_rows, n_train, n_test)
        order = generator.permutation(n_rows)
    else:
        # Without touching all of a million rows.
        order = generator.choice(n_rows, size=n_train + n_test, replace=False)
    return Split(order[:n_train], order[n_train : n_train + n_test])


def _shares(n_rows: int, n_train: int, n_test: int) -> tuple[int, int]:
    test = round(n_rows * n_test / (n_train + n_test))
    # At least one row to learn from and one to test on.
    test = min(max(test, min(1, n_test)), n_rows - min(1, n_train))
    return n_rows - test, test
