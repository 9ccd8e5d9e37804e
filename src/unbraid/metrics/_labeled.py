"""Rows of a split for which a factor is known."""

import numpy as np

from ._inputs import Factors
from ._splits import Split


def labeled_rows(who: str, split: Split, factors: Factors, factor: int) -> Split:
    """The rows of a split where one factor is not missing, or a clear error.

    Args:
        who: Name of the metric, for the message.
        split: Rows to learn from and to test on.
        factors: Factors of the whole table.
        factor: Number of the factor.
    """
    rows = np.concatenate([split.train, split.test])
    if rows.dtype.kind not in "iu" or not ((rows >= 0) & (rows < len(factors))).all():
        raise ValueError(
            f"{who}: expected a split into row numbers from 0 to {len(factors) - 1}, "
            f"got others (as {rows.dtype})."
        )
    known = factors.known[:, factor]
    train, test = split.train[known[split.train]], split.test[known[split.test]]
    if not len(train) or not len(test):
        raise ValueError(
            f"{who}: expected rows to learn from and rows to test on where "
            f"{factors.names[factor]!r} is known, got {len(train)} and {len(test)}. "
            "Give more labels, or drop this factor."
        )
    return Split(train, test)
