"""Rows and columns of a study's table, with types that a checker can follow."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.studies.analysis import correlate_ranks


def numbers_of(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column of numbers, ``(n_runs,)``."""
    return np.asarray(table[column], dtype=np.float64)


def rows_where(table: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """Rows in which a column has a value."""
    return table.loc[table[column] == value].reset_index(drop=True)


def rank_correlation(table: pd.DataFrame, first: str, second: str) -> float:
    """Spearman's correlation of two columns, NaN if one of them does not vary.

    Runs on several datasets, by the column ``data``, are ranked within each of them, so
    that it does not matter whether scores are higher on one dataset than on another.

    Example:
        >>> rank_correlation(pd.DataFrame({"a": [1, 2, 9], "b": [3, 2, 1]}), "a", "b")
        -1.0
    """
    columns = numbers_of(table, first), numbers_of(table, second)
    groups = np.asarray(table["data"] if "data" in table else [""] * len(table), str)
    value, _, _ = correlate_ranks((first, second), columns, groups)
    return round(value, 12)


def group_means(table: pd.DataFrame, by: str, column: str) -> dict[Any, float]:
    """Mean of a column in each group, by the group's value, in order."""
    means: Any = table.groupby(by)[column].mean()
    return means.to_dict()


def groups_of(
    table: pd.DataFrame, names: Sequence[str]
) -> dict[tuple[Any, ...], pd.DataFrame]:
    """Runs that agree in some columns, by what they agree in.

    Args:
        table: One row per run.
        names: Names of the columns; those missing from the table are left out.
    """
    known = [name for name in names if name in table]
    groups: Any = table.groupby(known, sort=False, dropna=False)
    return dict(iter(groups))
