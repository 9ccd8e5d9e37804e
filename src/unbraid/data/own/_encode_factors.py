"""Columns of labels become a table of numbers: codes, measures and missing values."""

import math
from collections.abc import Mapping
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from unbraid.data._dataset import Kind
from unbraid.data._factor_space import FactorKind, FactorSpace

from ._factor_table import FactorTable


def encode_factors(columns: pd.DataFrame, kinds: Mapping[str, Kind]) -> FactorTable:
    """Give every column a kind, and every value of a discrete column a code.

    Args:
        columns: One column per factor, with names that are strings and differ.
        kinds: Kinds of the columns that shall not be guessed.
    """
    names = tuple(map(str, columns.columns))
    encoded = [
        _encode(name, column, kinds.get(name))
        for name, (_, column) in zip(names, columns.items(), strict=True)
    ]
    found: tuple[Kind, ...] = tuple(kind for kind, _, _ in encoded)
    values = tuple(levels for _, levels, _ in encoded)
    rows = np.stack([numbers for _, _, numbers in encoded], axis=1)
    if "continuous" in found or np.isnan(rows).any():
        return FactorTable(names, found, values, rows, None)
    sizes = tuple(len(levels) for levels in values)
    if math.prod(sizes) >= 2**63:
        largest = names[int(np.argmax(sizes))]
        raise ValueError(
            "LabeledImages: expected fewer than 2**63 combinations of factor values, "
            f"got factors with {', '.join(map(str, sizes))} values. If they are "
            f"measures, say so: factor_kinds={{{largest!r}: 'continuous'}}."
        )
    space = FactorSpace(names, sizes, cast(tuple[FactorKind, ...], found))
    return FactorTable(names, found, values, rows.astype(np.int64), space)


def _encode(
    name: str, column: pd.Series, kind: Kind | None
) -> tuple[Kind, tuple[object, ...], NDArray[np.float64]]:
    missing = (column.isna() | column.isin([""])).to_numpy(dtype=bool)
    known: Any = column[~missing]
    if known.empty:
        raise ValueError(
            f"LabeledImages: expected some known value of factor {name!r}, got none. "
            "Leave this factor out."
        )
    if known.dtype == object:
        known = pd.Series(known.tolist())
    guess = _guess_kind(name, known)
    kind = kind or guess
    if kind == "continuous":
        levels, numbers = (), _measures(name, known)
    else:
        levels, numbers = _codes(known)
    table = np.full(len(column), np.nan)
    table[~missing] = numbers
    return kind, levels, table


def _guess_kind(name: str, known: pd.Series) -> Kind:
    dtype = known.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if types.is_bool_dtype(dtype) or _is_text(known):
        return "categorical"
    if types.is_integer_dtype(dtype):
        return "ordinal"
    if types.is_float_dtype(dtype):
        numbers = _measures(name, known)
        return "ordinal" if (numbers == np.floor(numbers)).all() else "continuous"
    raise TypeError(
        f"LabeledImages: expected factor {name!r} to be all numbers, all text or all "
        f"booleans, got {_types(known)}. Convert it first."
    )


def _measures(name: str, known: pd.Series) -> NDArray[np.float64]:
    if not types.is_numeric_dtype(known.dtype):
        raise TypeError(
            f"LabeledImages: expected numbers for the continuous factor {name!r}, got "
            f"{_types(known)}. Call it categorical, or convert it."
        )
    numbers = known.to_numpy(dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(
            f"LabeledImages: expected finite values of factor {name!r}, got "
            f"{int(np.isinf(numbers).sum())} that are infinite. Write NaN where a "
            "value is unknown."
        )
    return numbers


def _codes(known: pd.Series) -> tuple[tuple[object, ...], NDArray[np.integer]]:
    if isinstance(known.dtype, pd.CategoricalDtype):
        used = known.cat.remove_unused_categories().cat
        return tuple(used.categories.tolist()), used.codes.to_numpy()
    levels, codes = np.unique(known.to_numpy(), return_inverse=True)
    return tuple(levels.tolist()), codes


def _is_text(known: pd.Series) -> bool:
    return types.infer_dtype(known) == "string"


def _types(known: pd.Series) -> str:
    return " and ".join(sorted({type(value).__name__ for value in known.tolist()}))
