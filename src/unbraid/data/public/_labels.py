"""Labels of a published file as factor values, and whether they form a grid."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import DataFormatError


def numbered(
    where: Path, labels: NDArray[Any], *, n_factors: int
) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Values of each factor counted from zero in ascending order.

    Args:
        where: The file, for the error.
        labels: Numbers of any type, shape ``(n, n_factors)``, as many rows as there are
            combinations.
        n_factors: How many columns there must be.

    Returns:
        Factor values ``(n, n_factors)``, and how many values each factor has.
    """
    if labels.shape[1:] != (n_factors,) or labels.size == 0:
        raise DataFormatError(
            f"{where}: expected labels of shape (n, {n_factors}), got {labels.shape}. "
            "This is not the published file: get it again."
        )
    columns = [np.unique(column, return_inverse=True) for column in labels.T]
    sizes = tuple(len(unique) for unique, _ in columns)
    if math.prod(sizes) != len(labels):
        raise DataFormatError(
            f"{where}: expected each combination of {sizes} values of the factors "
            f"once, got {len(labels)} rows. "
            "This is not the published file: get it again."
        )
    values = np.stack([inverse for _, inverse in columns], axis=1)
    return values.astype(np.int64), sizes


def require_grid(where: Path, values: NDArray[np.int64], space: FactorSpace) -> None:
    """Raise DataFormatError unless the rows are the complete grid in its own order."""
    if not np.array_equal(values, space.factors(np.arange(space.size))):
        raise DataFormatError(
            f"{where}: expected each combination of the factors once, the last factor "
            "counting fastest, got other rows. "
            "This is not the published file: get it again."
        )
