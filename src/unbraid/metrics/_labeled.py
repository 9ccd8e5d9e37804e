"""Rows of a split in which a factor is known."""

import numpy as np

from ._inputs import Factors
from ._splits import Split


def labeled_rows(caller: str, split: Split, factors: Factors, factor: int) -> Split:
    """Return the rows of a split in which one factor is known.

    Args:
        caller: Name of the metric, for the message.
        split: Rows to learn from and to test on.
        factors: Factors of the whole table.
        factor: Column of the factor.

    Raises:
        ValueError: If there are no such rows, or the split is not one of these rows.
    """
    rows = np.concatenate([split.train, split.test])
    if rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < len(factors))).all():
        raise ValueError(
            f"{caller}: a split must have row numbers from 0 to {len(factors) - 1}, "
            f"got others (of type {rows.dtype})."
        )
    known = factors.known[:, factor]
    train, test = split.train[known[split.train]], split.test[known[split.test]]
    if not len(train) or not len(test):
        raise ValueError(
            f"{caller}: {factors.names[factor]!r} is known in {len(train)} rows to "
            f"learn from and {len(test)} rows to test on. Give more labels, or drop "
            "this factor."
        )
    return Split(train, test)
