"""Correlation of two lists of numbers, with ties that rounding would break."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Correlation = Literal["spearman", "pearson"]


def tied(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances as shares of the largest, those that agree to 12 digits made equal.

    Sums that are equal in exact arithmetic differ in the last bit, and ranks would
    take that for an order.
    """
    largest = distances.max()
    return np.round(distances / largest, 12) if largest > 0 else distances


def is_constant(values: NDArray[np.floating]) -> bool:
    """Whether all values are the same."""
    return bool((values == values[0]).all())


def correlate(
    a: NDArray[np.floating], b: NDArray[np.floating], kind: Correlation
) -> float:
    """Correlation from -1 to 1; 0 if one of the two does not vary.

    Args:
        a: Shape ``(n,)``, at least one.
        b: Likewise.
        kind: Of ranks (ties share their mean) or of the values themselves.

    Example:
        >>> correlate(np.array([0, 1, 2]), np.array([0, 1, 8]), "spearman")
        1.0
    """
    if is_constant(a) or is_constant(b):
        return 0.0
    if kind == "spearman":
        from scipy.stats import rankdata  # takes half a second to import

        a, b = rankdata(a), rankdata(b)
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1.0, 1.0))
