"""Conversion of tables of labels to data frames with named columns."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from unbraid.foundation import (
    DataFormatError,
    expand_user,
    require_memory,
    require_regular_file,
)


def read_columns(factors: Any, names: Sequence[str] | None) -> pd.DataFrame:
    """Return a data frame of factors; ``names`` replace the table's own names."""
    if isinstance(factors, str | os.PathLike):
        columns = _read_csv(expand_user(factors), names is not None)
    else:
        columns = _to_frame(factors)
    if columns.shape[1] == 0:
        raise ValueError(
            "factors must have at least one column, got none. Omit factors if there "
            "are no labels."
        )
    given = list(columns.columns if names is None else names)
    if len(given) != columns.shape[1]:
        raise ValueError(
            f"factor_names must have {columns.shape[1]} elements, one for each factor, "
            f"got {len(given)}."
        )
    labels = [str(name) for name in given]
    if len(set(labels)) < len(labels) or "" in labels:
        raise ValueError(
            "Names of factors must be unique and not empty, got "
            f"{', '.join(map(repr, labels))}."
        )
    return columns.set_axis(labels, axis="columns")


def _to_frame(factors: Any) -> pd.DataFrame:
    if isinstance(factors, pd.DataFrame):
        return factors
    if isinstance(factors, pd.Series):
        return factors.to_frame(factors.name or "factor_0")
    if isinstance(factors, Mapping):
        lengths = {str(name): len(column) for name, column in factors.items()}
        if len(set(lengths.values())) > 1:
            raise ValueError(
                "All factors must have the same length, got "
                f"{', '.join(f'{n!r} with {size}' for n, size in lengths.items())}."
            )
        # As arrays, because pandas would align series by their index.
        return pd.DataFrame({name: _column(values) for name, values in factors.items()})
    if isinstance(factors, torch.Tensor):
        factors = factors.detach().cpu().numpy()
    # pandas infers the type of each column of a list; an array has a single type.
    if not isinstance(factors, list | tuple):
        factors = np.asarray(factors)
        if factors.ndim not in (1, 2):
            raise ValueError(
                f"factors must have shape (n, n_factors), got {factors.shape}."
            )
    frame = pd.DataFrame(factors)
    if not isinstance(frame.columns, pd.RangeIndex):
        return frame
    return frame.set_axis(
        [f"factor_{i}" for i in range(frame.shape[1])], axis="columns"
    )


def _column(values: Any) -> Any:
    if isinstance(values, torch.Tensor):
        return values.detach().cpu().numpy()
    return values.array if isinstance(values, pd.Series) else values


def _read_csv(path: Path, is_named: bool) -> pd.DataFrame:
    if not path.exists() or path.is_dir():
        raise FileNotFoundError(
            f"factors must be a table or the path of a CSV file, but there is no file "
            f"{str(path)!r}."
        )
    # A table takes several times the memory of its text.
    require_memory(4 * require_regular_file(path), str(path))
    try:
        first = _parse(path, nrows=1, header=None, dtype=str, keep_default_na=False)
        header = _check_header(path, first.iloc[0].tolist(), is_named)
        if header is None:
            return _parse(path, header=None)
        columns = _parse(path, header=0, names=header)
    except pd.errors.EmptyDataError as error:
        raise DataFormatError(
            f"{str(path)!r} is empty. It must contain a line of names and a line per "
            "image."
        ) from error
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise DataFormatError(
            f"{str(path)!r} cannot be read as a CSV file in UTF-8 "
            f"({str(error).strip()})."
        ) from error
    if not isinstance(columns.index, pd.RangeIndex):
        raise DataFormatError(
            f"{str(path)!r} has lines with more values than the {len(header)} names in "
            "its first line."
        )
    return columns


def _parse(path: Path, **options: Any) -> pd.DataFrame:
    options |= {"encoding": "utf-8-sig", "skipinitialspace": True}
    # Infer the type of a column from all of it, not from chunks.
    return pd.read_csv(path, low_memory=False, **options)


def _check_header(path: Path, fields: list[str], is_named: bool) -> list[str] | None:
    """Return the names in the first line, or ``None`` if that line contains data."""
    if all(map(_is_number, fields)):
        if is_named:
            return None
        raise DataFormatError(
            f"The first line of {str(path)!r} must contain the names of the factors, "
            f"got numbers ({', '.join(fields[:3])}). Add a line of names, or pass "
            "factor_names."
        )
    if len(fields) == 1 and any(mark in fields[0] for mark in ";\t"):
        raise DataFormatError(
            f"Values in {str(path)!r} must be separated by commas, got {fields[0]!r}."
        )
    if "" in fields:
        raise DataFormatError(
            f"Every column of {str(path)!r} must have a name, but column "
            f"{fields.index('') + 1} has none. If it contains row numbers, omit it (in "
            "pandas: to_csv(index=False))."
        )
    if len(set(fields)) < len(fields):
        raise DataFormatError(
            f"Names of columns in {str(path)!r} must be unique, got "
            f"{', '.join(fields)}."
        )
    return fields


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
