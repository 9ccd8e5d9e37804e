"""Conversion of columns of labels to a table of numbers."""

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
    """Determine the kind of each column, and encode values of discrete columns.

    Args:
        columns: One column per factor, with unique names.
        kinds: Kinds of columns by name; those of other columns are inferred.
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
            "There must be fewer than 2**63 combinations of factor values, got factors "
            f"with {', '.join(map(str, sizes))} values. If {largest!r} is a "
            f"measurement, pass factor_kinds={{{largest!r}: 'continuous'}}."
        )
    space = FactorSpace(names, sizes, cast(tuple[FactorKind, ...], found))
    return FactorTable(names, found, values, rows.astype(np.int64), space)


def _encode(
    name: str, column: pd.Series, kind: Kind | None
) -> tuple[Kind, tuple[object, ...], NDArray[np.float64]]:
    missing = (column.isna() | column.isin([""])).to_numpy(dtype=bool)
    known: Any = column[~missing]
    if known.empty:
        raise ValueError(f"Factor {name!r} has no known value. Omit this factor.")
    if known.dtype == object:
        known = pd.Series(known.tolist())
    inferred = _infer_kind(name, known)
    kind = kind or inferred
    if kind == "continuous":
        levels, numbers = (), _to_floats(name, known)
    else:
        levels, numbers = _codes(known)
    table = np.full(len(column), np.nan)
    table[~missing] = numbers
    return kind, levels, table


def _infer_kind(name: str, known: pd.Series) -> Kind:
    dtype = known.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "categorical"
    if types.is_bool_dtype(dtype) or _is_text(known):
        return "categorical"
    if types.is_integer_dtype(dtype):
        return "ordinal"
    if types.is_float_dtype(dtype):
        numbers = _to_floats(name, known)
        return "ordinal" if (numbers == np.floor(numbers)).all() else "continuous"
    raise TypeError(
        f"Values of factor {name!r} must be all numbers, all strings or all booleans, "
        f"got {_types(known)}. Convert them first."
    )


def _to_floats(name: str, known: pd.Series) -> NDArray[np.float64]:
    if not types.is_numeric_dtype(known.dtype):
        raise TypeError(
            f"Values of the continuous factor {name!r} must be numbers, got "
            f"{_types(known)}. Declare it categorical, or convert it."
        )
    numbers = known.to_numpy(dtype=np.float64)
    if np.isinf(numbers).any():
        raise ValueError(
            f"Values of factor {name!r} must be finite, but "
            f"{int(np.isinf(numbers).sum())} are infinite. Use NaN for unknown values."
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
