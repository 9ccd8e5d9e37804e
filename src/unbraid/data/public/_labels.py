"""Conversion of the labels of published files to factor values."""

import math
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import DataFormatError


def encode_labels(
    where: Path, labels: NDArray[Any], *, n_factors: int
) -> tuple[NDArray[np.int64], tuple[int, ...]]:
    """Number the values of each factor from zero, in ascending order.

    Args:
        where: Path of the file, for error messages.
        labels: Numbers of any type, shape ``(n, n_factors)``, one row per combination.
        n_factors: Required number of columns.

    Returns:
        Factor values ``(n, n_factors)``, and the number of values of each factor.
    """
    if labels.shape[1:] != (n_factors,) or labels.size == 0:
        raise DataFormatError(
            f"{where}: labels must have shape (n, {n_factors}), got {labels.shape}. "
            "This is not the published file: download it again."
        )
    columns = [np.unique(column, return_inverse=True) for column in labels.T]
    sizes = tuple(len(unique) for unique, _ in columns)
    if math.prod(sizes) != len(labels):
        raise DataFormatError(
            f"{where} must contain each combination of {sizes} values of the factors "
            f"once, got {len(labels)} rows. "
            "This is not the published file: download it again."
        )
    values = np.stack([inverse for _, inverse in columns], axis=1)
    return values.astype(np.int64), sizes


def require_grid(where: Path, values: NDArray[np.int64], space: FactorSpace) -> None:
    """Raise DataFormatError unless the rows are the complete grid, in order."""
    if not np.array_equal(values, space.factors(np.arange(space.size))):
        raise DataFormatError(
            f"{where} must contain each combination of the factors once, with the last "
            "factor varying fastest. "
            "This is not the published file: download it again."
        )
