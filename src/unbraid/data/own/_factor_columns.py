"""Whatever a user calls a table of labels becomes a data frame with named columns."""

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
    """One column per factor, named; ``names`` stand in for the table's own."""
    if isinstance(factors, str | os.PathLike):
        columns = _read_csv(expand_user(factors), names is not None)
    else:
        columns = _to_frame(factors)
    if columns.shape[1] == 0:
        raise ValueError(
            "LabeledImages: expected factors with at least one column, got none. "
            "Leave factors out if there are no labels."
        )
    given = list(columns.columns if names is None else names)
    if len(given) != columns.shape[1]:
        raise ValueError(
            f"LabeledImages: expected a name for each of {columns.shape[1]} factors, "
            f"got {len(given)} names."
        )
    labels = [str(name) for name in given]
    if len(set(labels)) < len(labels) or "" in labels:
        raise ValueError(
            "LabeledImages: expected factor names that differ and are not empty, got "
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
                "LabeledImages: expected factors of equal length, got "
                f"{', '.join(f'{n!r} with {size}' for n, size in lengths.items())}."
            )
        # As arrays, because pandas would align columns that are series by their index.
        return pd.DataFrame({name: _column(values) for name, values in factors.items()})
    if isinstance(factors, torch.Tensor):
        factors = factors.detach().cpu().numpy()
    # Of a list pandas keeps the type of each column; an array would make all one type.
    if not isinstance(factors, list | tuple):
        factors = np.asarray(factors)
        if factors.ndim not in (1, 2):
            raise ValueError(
                "LabeledImages: expected factors as (n, n_factors), got an array of "
                f"shape {factors.shape}."
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
            f"LabeledImages: expected a CSV file of factors, got {str(path)!r}, and "
            "there is no such file."
        )
    # What pandas makes of a text takes several times its size.
    require_memory(4 * require_regular_file(path), str(path))
    try:
        first = _parse(path, nrows=1, header=None, dtype=str, keep_default_na=False)
        header = _checked_header(path, first.iloc[0].tolist(), is_named)
        if header is None:
            return _parse(path, header=None)
        columns = _parse(path, header=0, names=header)
    except pd.errors.EmptyDataError as error:
        raise DataFormatError(
            f"LabeledImages: expected a line of names and a line per image in "
            f"{str(path)!r}, got an empty file."
        ) from error
    except (pd.errors.ParserError, UnicodeDecodeError) as error:
        raise DataFormatError(
            "LabeledImages: expected a CSV file of factors in UTF-8, got "
            f"{str(path)!r} ({str(error).strip()})."
        ) from error
    if not isinstance(columns.index, pd.RangeIndex):
        raise DataFormatError(
            f"LabeledImages: expected {len(header)} values per line in {str(path)!r}, "
            "as many as there are names, got lines with more."
        )
    return columns


def _parse(path: Path, **options: Any) -> pd.DataFrame:
    options |= {"encoding": "utf-8-sig", "skipinitialspace": True}
    # Guess the type of a column from all of it, not from one stretch after another.
    return pd.read_csv(path, low_memory=False, **options)


def _checked_header(path: Path, fields: list[str], is_named: bool) -> list[str] | None:
    """Names in the first line, or ``None`` if that line is data and names are given."""
    if all(map(_is_number, fields)):
        if is_named:
            return None
        raise DataFormatError(
            f"LabeledImages: expected the names of the factors in the first line of "
            f"{str(path)!r}, got numbers ({', '.join(fields[:3])}). Add such a line, "
            "or pass factor_names."
        )
    if len(fields) == 1 and any(mark in fields[0] for mark in ";\t"):
        raise DataFormatError(
            f"LabeledImages: expected values that are separated by commas in "
            f"{str(path)!r}, got {fields[0]!r}."
        )
    if "" in fields:
        raise DataFormatError(
            f"LabeledImages: expected a name for every column of {str(path)!r}, got "
            f"none for column {fields.index('') + 1}. If it holds row numbers, leave "
            "it out (in pandas: to_csv(index=False))."
        )
    if len(set(fields)) < len(fields):
        raise DataFormatError(
            f"LabeledImages: expected names that differ in {str(path)!r}, got "
            f"{', '.join(fields)}."
        )
    return fields


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
