"""Reading columns of tables of runs."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.studies.analysis import number_groups, values_of


def texts(table: pd.DataFrame, column: str) -> list[str]:
    """Return a column as strings; empty where values are missing."""
    return ["" if _is_missing(value) else str(value) for value in table[column]]


def numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """Return a column as numbers; NaN where values or the column are missing."""
    if column not in table.columns:
        return np.full(len(table), np.nan)
    return np.array(pd.to_numeric(table[column], errors="coerce"), dtype=np.float64)


def is_done(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which runs are finished; all if there is no status column."""
    if "status" not in table.columns:
        return np.ones(len(table), dtype=bool)
    return values_of(table, "status") == "done"


def chosen_rows(table: pd.DataFrame, is_kept: NDArray[np.bool_]) -> pd.DataFrame:
    """Return the selected rows of a table."""
    return table.take(np.flatnonzero(is_kept))


def is_equal(table: pd.DataFrame, column: str, value: Any) -> NDArray[np.bool_]:
    """Return in which rows a column has a value."""
    # Compared in Python: NumPy ignores zero characters at the end of strings.
    return np.array([cell == value for cell in table[column]], dtype=bool)


def settings_of(runs: pd.DataFrame) -> list[tuple[str, Any, pd.DataFrame]]:
    """Return method, strength and runs of every setting, in the order of the table.

    Args:
        runs: Table with the columns of :func:`unbraid.studies.analysis.strengths`.
    """
    methods = values_of(runs, "method")
    group = number_groups(methods, values_of(runs, "strength_rank"))
    settings = []
    for number in range(int(group.max(initial=-1)) + 1):
        part = chosen_rows(runs, group == number)
        strength = values_of(part, "strength")[0]
        settings.append((str(values_of(part, "method")[0]), strength, part))
    return settings


def count_different(table: pd.DataFrame, column: str) -> int:
    """Return the number of different values in a column."""
    return len(set(texts(table, column)))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
