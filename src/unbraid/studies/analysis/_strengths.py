"""Which method a run belongs to, and how strongly it regularises."""

import math
import numbers
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.models import SCHEDULES

from ._table import require_columns

_SETTINGS = (
    "objective",
    "training",
    "network",
    "likelihood",
    "evolution",
)
_NAME = "objective.name"
_WORD = re.compile(r"[A-Za-z_][\w ]*")
_ENDS = ("value", "start", "end")
"""Settings of schedules that are values of the hyperparameter, in order."""


def strengths(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the columns ``method``, ``strength`` and ``strength_rank``.

    The strength of a run is the value of the setting that varies among the runs of its
    method. If several vary, every combination of their values is a strength, in words;
    if none does, there is one, without a value. Options of an objective or of an
    evolution that are words, such as the two kinds of ``dip_vae``, tell methods apart
    and are no strengths. A hyperparameter that changes during the run is one setting,
    its first and last value, if runs differ in nothing else of its schedule.

    Args:
        table: One row per run, with the column ``objective.name``. Every column whose
            path begins with ``objective``, ``training``, ``network``, ``likelihood`` or
            ``evolution`` is a setting. How a model was evaluated is none. What differs
            only between datasets (column ``data``, if there is one) does not vary.

    Returns:
        A copy with ``method`` (text), ``strength`` (numbers, text where several
        settings vary) and ``strength_rank`` (whole numbers from 0 within each method,
        weakest first: the same strength has the same rank on every dataset).

    Example:
        >>> table = pd.DataFrame({
        ...     "objective.name": ["beta_vae", "beta_vae", "dip_vae", "dip_vae"],
        ...     "objective.beta": [16.0, 4.0, None, None],
        ...     "objective.kind": [None, None, "i", "ii"],
        ... })
        >>> strengths(table)[["method", "strength", "strength_rank"]]
               method  strength  strength_rank
        0    beta_vae      16.0              1
        1    beta_vae       4.0              0
        2   dip_vae i       NaN              0
        3  dip_vae ii       NaN              0

    References:
        Locatello et al. (2019), section 5.3: six methods with six strengths each.
    """
    require_columns("strengths", table, [_NAME])
    settings = [
        column for column in table.columns if str(column).split(".")[0] in _SETTINGS
    ]
    keys = pd.DataFrame(
        {column: [_key(value) for value in table[column]] for column in settings},
        index=range(len(table)),
    )
    keys = _join_schedules(keys)
    data = table["data"] if "data" in table.columns else [""] * len(table)
    groups = np.asarray(data, dtype=object)
    methods = _methods(keys, groups)
    values, ranks = _ranks(keys, methods, groups)
    is_number = all(isinstance(value, float) for value in values)
    return table.assign(
        method=methods,
        strength=np.array(values, dtype=float if is_number else object),
        strength_rank=ranks,
    )


def setting_name(method: str, strength: Any) -> str:
    """Return the name of a setting: its method and strength.

    Example:
        >>> setting_name("beta_vae", 4.0), setting_name("vae", math.nan)
        ('beta_vae 4', 'vae')
    """
    if isinstance(strength, float):
        return method if math.isnan(strength) else f"{method} {strength:g}"
    return f"{method} {strength}"


def _key(value: Any) -> tuple[int, Any]:
    """A value that can be compared with any other: none, then numbers, then text."""
    if value is None or (isinstance(value, numbers.Real) and math.isnan(value)):
        return 0, 0.0
    if isinstance(value, numbers.Real | np.bool_):
        return 1, float(value)
    return 2, str(value)


def _join_schedules(keys: pd.DataFrame) -> pd.DataFrame:
    """Replace the columns of schedules that differ in their values only by one."""
    kinds = {(2, name) for name in SCHEDULES}
    for column in [name for name in keys.columns if name.endswith(".name")]:
        setting = column.removesuffix(".name")
        cells = {
            name: list(keys[name])
            for name in keys.columns
            if name.startswith(f"{setting}.")
        }
        rows = [row for row, key in enumerate(cells[column]) if key in kinds]
        ends = [f"{setting}.{end}" for end in _ENDS if f"{setting}.{end}" in cells]
        varying = {
            name for name, values in cells.items() if len({values[r] for r in rows}) > 1
        }
        joined = list(keys[setting]) if setting in keys else [_key(None)] * len(keys)
        is_partial = any(key[0] for key in joined)
        if not rows or not varying <= set(ends):
            continue
        if len(varying) < 2 and not is_partial:
            continue
        for row in rows:
            joined[row] = _join(cells[end][row] for end in ends)
        keys = keys.drop(columns=list(cells)).assign(**{setting: joined})
    return keys


def _join(ends: Iterable[tuple[Any, ...]]) -> tuple[Any, ...]:
    """A schedule as a value between numbers: by its first value, then by its last."""
    values = [key[1] for key in ends if key[0]]
    return 1, values[0], values[-1], " to ".join(f"{value:g}" for value in values)


def _methods(keys: pd.DataFrame, groups: NDArray[np.object_]) -> NDArray[np.object_]:
    """Name of each run's method: its objective, and the words that vary within it."""
    methods = np.array([key[1] for key in keys[_NAME]], dtype=object)
    for name in pd.unique(methods):
        rows = np.flatnonzero(methods == name)
        choices = [
            column
            for column in _varying(keys, rows, groups)
            if column.startswith(("objective.", "evolution."))
            and _is_choice(keys[column].iloc[rows])
        ]
        for column in choices:
            options = [key[1] if key[0] == 2 else "" for key in keys[column].iloc[rows]]
            methods[rows] = [
                f"{method} {option}".strip()
                for method, option in zip(methods[rows], options, strict=True)
            ]
    return methods


def _is_choice(keys: pd.Series) -> bool:
    """Whether the values are different words, and not numbers or what holds any."""
    known = {key for key in keys if key[0]}
    return len(known) > 1 and all(
        key[0] == 2 and _WORD.fullmatch(key[1]) for key in known
    )


def _varying(
    keys: pd.DataFrame, rows: NDArray[np.int64], groups: NDArray[np.object_]
) -> list[str]:
    """Settings that differ among rows of the same dataset."""
    some = keys.iloc[rows]
    n_values = some.groupby(groups[rows]).nunique()
    return [column for column in keys.columns if (n_values[column] > 1).any()]


def _ranks(
    keys: pd.DataFrame, methods: NDArray[np.object_], groups: NDArray[np.object_]
) -> tuple[list[Any], NDArray[np.int64]]:
    values: list[Any] = [math.nan] * len(keys)
    ranks = np.zeros(len(keys), dtype=np.int64)
    for method in pd.unique(methods):
        rows = np.flatnonzero(methods == method)
        columns = _varying(keys, rows, groups)
        combinations = list(keys.loc[rows, columns].itertuples(index=False, name=None))
        order = {key: rank for rank, key in enumerate(sorted(set(combinations)))}
        for row, combination in zip(rows, combinations, strict=True):
            ranks[row] = order[combination]
            values[row] = _describe_strength(columns, combination)
    return values, ranks


def _describe_strength(columns: list[str], keys: tuple[tuple[Any, ...], ...]) -> Any:
    if not columns:
        return math.nan
    if len(columns) == 1:
        kind, *values = keys[0]
        return values[-1] if kind else math.nan
    return ", ".join(
        f"{column.partition('.')[2] or column}={_text(key)}"
        for column, key in zip(columns, keys, strict=True)
        if key[0]
    )


def _text(key: tuple[Any, ...]) -> str:
    value = key[-1]
    return value if isinstance(value, str) else f"{value:g}"
