"""Tables of runs, read column by column."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.studies.analysis import number_groups, values_of


def texts(table: pd.DataFrame, column: str) -> list[str]:
    """A column as text, empty where it is missing."""
    return ["" if _is_missing(value) else str(value) for value in table[column]]


def numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    """A column as numbers, NaN where there is none; all NaN without the column."""
    if column not in table.columns:
        return np.full(len(table), np.nan)
    return np.array(pd.to_numeric(table[column], errors="coerce"), dtype=np.float64)


def is_done(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Which runs are finished; all, without a column that says so."""
    if "status" not in table.columns:
        return np.ones(len(table), dtype=bool)
    return values_of(table, "status") == "done"


def chosen_rows(table: pd.DataFrame, is_kept: NDArray[np.bool_]) -> pd.DataFrame:
    """Some rows of a table."""
    return table.take(np.flatnonzero(is_kept))


def is_equal(table: pd.DataFrame, column: str, value: Any) -> NDArray[np.bool_]:
    """In which rows a column holds a value."""
    # One by one: NumPy takes text that ends in a zero character for the same without.
    return np.array([found == value for found in table[column]], dtype=bool)


def settings_of(runs: pd.DataFrame) -> list[tuple[str, Any, pd.DataFrame]]:
    """Method, strength and runs of every setting, in the order of the table.

    Args:
        runs: With the columns of :func:`unbraid.studies.analysis.strengths`.
    """
    methods = values_of(runs, "method")
    group = number_groups(methods, values_of(runs, "strength_rank"))
    found = []
    for number in range(int(group.max(initial=-1)) + 1):
        part = chosen_rows(runs, group == number)
        strength = values_of(part, "strength")[0]
        found.append((str(values_of(part, "method")[0]), strength, part))
    return found


def count_different(table: pd.DataFrame, column: str) -> int:
    """How many different values a column has."""
    return len(set(texts(table, column)))


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))
