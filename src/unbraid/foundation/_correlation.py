"""Correlation of two arrays, with ties that rounding errors would break."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Correlation = Literal["spearman", "pearson"]


def tied(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide distances by the largest and round them to 12 digits, to restore ties.

    Sums that are equal in exact arithmetic may differ in the last bit, which ranks
    would treat as a difference.
    """
    largest = distances.max()
    return np.round(distances / largest, 12) if largest > 0 else distances


def is_constant(values: NDArray[np.floating]) -> bool:
    """Return whether all values are equal."""
    return bool((values == values[0]).all())


def correlate(
    a: NDArray[np.floating], b: NDArray[np.floating], kind: Correlation
) -> float:
    """Return the correlation of two arrays, from -1 to 1; 0 if either is constant.

    Args:
        a: First array, ``(n,)``, not empty.
        b: Second array, ``(n,)``.
        kind: ``"pearson"`` correlates the values, ``"spearman"`` their ranks (ties
            share their mean rank).

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
