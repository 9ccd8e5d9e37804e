"""Rows and columns of a study's table, with types that a checker can follow."""

from collections.abc import Mapping, Sequence
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
    found = np.asarray(table[column], dtype=object) == value
    return chosen(table, found).reset_index(drop=True)


def rank_correlation(table: pd.DataFrame, first: str, second: str) -> float:
    """Spearman's correlation of two columns, NaN if one of them does not vary.

    Runs on several datasets, by the column ``data``, are ranked within each of them, so
    that it does not matter whether scores are higher on one dataset than on another.

    Example:
        >>> rank_correlation(pd.DataFrame({"a": [1, 2, 9], "b": [3, 2, 1]}), "a", "b")
        -1.0
    """
    columns = numbers_of(table, first), numbers_of(table, second)
    groups = np.array(words_of(table, "data") if "data" in table else [""] * len(table))
    value, _, _ = correlate_ranks((first, second), columns, groups)
    return round(value, 12)


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


def columns_of(rows: Sequence[Mapping[str, float]]) -> dict[str, NDArray[np.float64]]:
    """Rows of numbers as columns, by the names of the first row.

    Example:
        >>> columns_of([{"scale": 0.1}, {"scale": 0.2}])
        {'scale': array([0.1, 0.2])}
    """
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def chosen(table: pd.DataFrame, which: Sequence[bool]) -> pd.DataFrame:
    """Some of the runs."""
    return table.take(np.flatnonzero(np.asarray(which, dtype=bool)))


def groups_of(
    table: pd.DataFrame, names: Sequence[str]
) -> dict[tuple[str, ...], pd.DataFrame]:
    """Runs that agree in some columns, by what they agree in.

    Args:
        table: One row per run.
        names: Names of the columns; those missing from the table are left out.
    """
    columns = [words_of(table, name) for name in names if name in table]
    keys = list(zip(*columns, strict=True))
    return {
        key: chosen(table, [other == key for other in keys])
        for key in dict.fromkeys(keys)
    }
