"""Rows and columns of a study's table, with types that a checker can follow."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from unbraid.correlation import is_constant


def numbers_of(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column of numbers, ``(n_runs,)``."""
    return np.asarray(table[column], dtype=np.float64)


def rows_where(table: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """Rows in which a column has a value."""
    found = np.asarray(table[column], dtype=object) == value
    return chosen(table, found).reset_index(drop=True)


def rank_correlation(table: pd.DataFrame, first: str, second: str) -> float:
    """Spearman's correlation of two columns, NaN if one of them does not vary.

    Example:
        >>> rank_correlation(pd.DataFrame({"a": [1, 2, 9], "b": [3, 2, 1]}), "a", "b")
        -1.0
    """
    a, b = (rankdata(numbers_of(table, name)) for name in (first, second))
    if len(a) < 2 or is_constant(a) or is_constant(b):
        return math.nan
    return round(float(np.corrcoef(a, b)[0, 1]), 12)


def group_means(table: pd.DataFrame, by: str, column: str) -> dict[Any, float]:
    """Mean of a column in each group, by the group's value, in order."""
    groups = np.asarray(table[by], dtype=object)
    values = numbers_of(table, column)
    return {
        group: float(values[groups == group].mean())
        for group in sorted(dict.fromkeys(groups))
    }


def words_of(table: pd.DataFrame, column: str) -> list[str]:
    """A column as text."""
    return [str(value) for value in np.asarray(table[column], dtype=object)]


def chosen(table: pd.DataFrame, which: Sequence[bool]) -> pd.DataFrame:
    """Some of the runs."""
    return table.take(np.flatnonzero(np.asarray(which, dtype=bool)))


def groups_of(
    table: pd.DataFrame, names: Sequence[str]
) -> dict[tuple[str, ...], pd.DataFrame]:
    """Runs that agree in some columns, by what they agree in.

    Args:
        table: One row per run.
        names: Of the columns; those that the table does not have are left out.
    """
    columns = [words_of(table, name) for name in names if name in table]
    keys = list(zip(*columns, strict=True))
    return {
        key: chosen(table, [other == key for other in keys])
        for key in dict.fromkeys(keys)
    }
