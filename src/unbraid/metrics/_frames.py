"""Reading factors from pandas DataFrames."""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from unbraid.data import Kind

_FEWEST_ROWS = 20
"""Rows from which a text column with few repetitions is an identifier."""


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a DataFrame as a factor.

    Attributes:
        name: Name of the column.
        values: Numbers, or class numbers from 0; NaN where missing.
        kind: Kind that the type implies, ``None`` for numbers.
        classes: Names of the classes in their order, empty for numbers.
    """

    name: str
    values: NDArray[np.float64]
    kind: Kind | None = None
    classes: tuple[str, ...] = ()


def read_frame(frame: pd.DataFrame | pd.Series) -> list[Column]:
    """Read the columns of a DataFrame (or a Series) as factors.

    Numbers and booleans stay numbers. Text becomes classes in alphabetical order, and
    a pandas category has its classes in the order of the category. Missing values of
    any type become NaN.

    Raises:
        ValueError: If a column cannot be used, with its name and the reason.
    """
    if isinstance(frame, pd.Series):
        frame = frame.to_frame("factor_0" if frame.name is None else frame.name)
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"factors: there are several columns named {twice!r}.")
    if 0 in frame.shape:
        raise ValueError(
            f"factors must have shape (n_rows, n_columns), got {frame.shape}."
        )
    return [_read_column(name, frame.iloc[:, i]) for i, name in enumerate(names)]


def _read_column(name: str, column: pd.Series) -> Column:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _category(name, column)
    if types.is_bool_dtype(column.dtype) or (
        types.is_numeric_dtype(column.dtype) and not types.is_complex_dtype(column)
    ):
        return _numbers(name, column)
    if types.is_object_dtype(column.dtype) or types.is_string_dtype(column.dtype):
        return _objects(name, column)
    raise ValueError(
        f"factors: column {name!r} has type {column.dtype}, which is neither numbers "
        "nor text. Convert it to numbers, or leave the column out."
    )


def _numbers(name: str, column: pd.Series) -> Column:
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if types.is_integer_dtype(column.dtype):
        known = values[~np.isnan(values)]
        if column.nunique() != len(np.unique(known)):
            raise ValueError(
                f"factors: {name!r} has integers above 2**53 that are equal as "
                "float64. Number its values from 0."
            )
    return Column(name, values)


def _category(name: str, column: pd.Series) -> Column:
    used = column.cat.remove_unused_categories().cat
    values = used.codes.to_numpy().astype(np.float64)
    values[values < 0] = np.nan
    kind: Kind = "ordinal" if used.ordered else "categorical"
    return Column(name, values, kind, tuple(str(each) for each in used.categories))


def _objects(name: str, column: pd.Series) -> Column:
    """Read text as classes, and numbers among objects, such as booleans with gaps."""
    is_known = column.notna().to_numpy()
    known = column.to_numpy(dtype=object)[is_known]
    is_text = np.array([isinstance(value, str) for value in known], dtype=bool)
    is_real = np.array([isinstance(value, Real) for value in known], dtype=bool)
    values = np.full(len(column), np.nan)
    if is_text.all():
        _check_text(name, known)
        classes, labels = np.unique(known.astype(str), return_inverse=True)
        values[is_known] = labels
        return Column(name, values, "categorical", tuple(classes.tolist()))
    if is_real.all():
        values[is_known] = known.astype(np.float64)
        return Column(name, values)
    example: Any = known[is_text if is_text.any() else ~is_real][0]
    raise ValueError(
        f"factors: column {name!r} holds neither only numbers nor only text; one of "
        f"its values is {example!r}. Clean the column, or leave it out."
    )


def _check_text(name: str, texts: NDArray[np.object_]) -> None:
    """Raise an error for numbers with some text among them, and for identifiers."""
    numbers = np.asarray(pd.to_numeric(pd.Series(texts), errors="coerce"), np.float64)
    is_word = np.isnan(numbers)
    if 0 < is_word.sum() <= 0.5 * len(texts):
        raise ValueError(
            f"factors: column {name!r} holds numbers and also the text "
            f"{texts[is_word][0]!r}. Leave such entries empty if they are missing, or "
            "leave the column out."
        )
    n_different = len(set(texts))
    if len(texts) >= _FEWEST_ROWS and n_different > len(texts) / 2:
        raise ValueError(
            f"factors: column {name!r} has {n_different:,} different texts in "
            f"{len(texts):,} rows, so it looks like an identifier or free text. Leave "
            "the column out."
        )
