"""Typed access to rows and columns of tables of runs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.studies.analysis import correlate_ranks


def numbers_of(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as numbers, ``(n_runs,)``."""
    return np.asarray(table[column], dtype=np.float64)


def rows_where(table: pd.DataFrame, column: str, value: Any) -> pd.DataFrame:
    """Return the rows in which a column has a value."""
    return table.loc[table[column] == value].reset_index(drop=True)


def rank_correlation(table: pd.DataFrame, first: str, second: str) -> float:
    """Return Spearman's correlation of two columns; NaN if one is constant.

    Runs are ranked within each dataset (column ``data``), so that different levels of
    scores on different datasets do not matter.

    Example:
        >>> rank_correlation(pd.DataFrame({"a": [1, 2, 9], "b": [3, 2, 1]}), "a", "b")
        -1.0
    """
    columns = numbers_of(table, first), numbers_of(table, second)
    groups = np.asarray(table["data"] if "data" in table else [""] * len(table), str)
    value, _, _ = correlate_ranks((first, second), columns, groups)
    return round(value, 12)


def group_means(table: pd.DataFrame, by: str, column: str) -> dict[Any, float]:
    """Return the mean of a column in each group, in order of the groups."""
    means: Any = table.groupby(by)[column].mean()
    return means.to_dict()


def groups_of(
    table: pd.DataFrame, names: Sequence[str]
) -> dict[tuple[Any, ...], pd.DataFrame]:
    """Group runs by the values of some columns.

    Args:
        table: Table of runs, one row per run.
        names: Names of the columns; missing columns are skipped.
    """
    known = [name for name in names if name in table]
    groups: Any = table.groupby(known, sort=False, dropna=False)
    return dict(iter(groups))
