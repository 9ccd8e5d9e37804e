"""FewLabels: labels of some images, which help to choose a model."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.foundation import (
    MAX_TEXT_BYTES,
    expand_user,
    naming,
    printable_name,
    require_regular_file,
)
from unbraid.metrics import mutual_information_gap
from unbraid.representation import encode

FEWEST, MOST = 20, 1_000
_LARGEST = 2.0**53
"""Above it, numbers that differ by one are equal as floats."""

_ROW_NAMES = ("row", "file")


@dataclass(frozen=True, eq=False)
class FewLabels:
    """Labels of a few rows of a dataset.

    Attributes:
        rows: Rows of the dataset that have labels, ``(n,)``.
        factors: Values of the factors in these rows, ``(n, n_factors)``.
    """

    rows: NDArray[np.int64]
    factors: NDArray[Any]

    def score(self, model: Any, dataset: AbstractDataset) -> float:
        """Return the MIG on these rows, with as many bins as they can fill."""
        codes = encode(model, dataset, rows=self.rows, progress=False).codes
        return self.score_codes(codes)

    def score_codes(self, codes: NDArray[Any]) -> float:
        """Return the MIG of codes of these rows, ``(n, n_latents)``."""
        # 5 bins for 20 labels, 9 for 100, the usual 20 for 1,000.
        bins = round(2 * len(self.rows) ** (1 / 3))
        return float(mutual_information_gap(codes, self.factors, bins=bins))


def read_labels(labels: Any, n_rows: int, names: Sequence[str] = ()) -> FewLabels:
    """Read the labels of a few images from a table.

    Args:
        labels: A data frame, a mapping from names to columns, or a CSV file. A column
            called ``row`` (counted from 0) or ``file`` says which image each line is
            about, and the others are factors; text is numbered.
        n_rows: Number of images in the data.
        names: Names of the files of the images, if they have any.

    Raises:
        ValueError: If the table cannot be used to score models.
    """
    where = str(labels) if isinstance(labels, str | Path) else "labels"
    with naming(where):
        return _read_labels(_table(labels), n_rows, names)


def _read_labels(table: pd.DataFrame, n_rows: int, names: Sequence[str]) -> FewLabels:
    keys = [name for name in _ROW_NAMES if name in table]
    if len(keys) != 1 or table.shape[1] < 2:
        raise ValueError(
            "discover: labels need one column called row or file and at least one "
            f"factor, got columns {', '.join(map(str, table.columns)) or 'none'}."
        )
    if not FEWEST <= len(table) <= MOST:
        raise ValueError(
            f"discover needs {FEWEST} to {MOST:,} labels, got {len(table):,}."
        )
    if table.isna().any(axis=None):
        raise ValueError("discover: a cell of the table of labels is empty.")
    _check_columns(table)
    rows = _rows(keys[0], list(table[keys[0]]), n_rows, names)
    columns = [_numbers(np.asarray(table[name])) for name in table if name not in keys]
    few = FewLabels(rows, np.column_stack(columns))
    # The score that is computed after training, so that labels which it would refuse
    # are refused before.
    few.score_codes(np.random.default_rng(0).normal(size=(len(rows), 2)))
    return few


def _check_columns(table: pd.DataFrame) -> None:
    """Refuse columns that no model could be scored by."""
    names = [str(name) for name in table.columns]
    # What pandas calls a column without a name, such as that of an index.
    unnamed = [name for name in names if name.startswith("Unnamed: ")]
    if unnamed or len(set(names)) < len(names):
        raise ValueError(
            "discover: every column of labels needs a name of its own, got "
            f"{', '.join(names)}."
        )
    for name in table.columns.difference(_ROW_NAMES, sort=False):
        column = np.asarray(table[name])
        is_number = column.dtype.kind == "f"
        if column.dtype.kind in "iuf":
            sizes = np.nan_to_num(np.abs(column.astype(float)), posinf=0.0)
            if sizes.max() > _LARGEST:
                raise ValueError(
                    f"discover: labels of {name!r} must be between -2**53 and 2**53, "
                    f"got {column[sizes.argmax()]}. Write numbers that stand for names "
                    "as text, or number them from 0."
                )
        if column.dtype.kind == "O" and any(_is_number(value) for value in column):
            raise ValueError(
                f"discover: labels of {name!r} must be all numbers up to 2**53 or all "
                f"text, got {next(filter(_is_number, column))}."
            )
        if len(np.unique(column.astype(str))) < 2 or (
            is_number and not np.isfinite(column).all()
        ):
            raise ValueError(
                f"discover: labels of {name!r} must be finite and must not all be "
                "equal. Leave out this column, or label other images."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)


def _numbers(column: NDArray[Any]) -> NDArray[Any]:
    """Return a column as it is, or numbered if it is text."""
    if column.dtype.kind in "iufb":
        return column
    return np.unique(column.astype(str), return_inverse=True)[1]


def _table(labels: Any) -> pd.DataFrame:
    if not isinstance(labels, str | Path):
        return pd.DataFrame(labels)
    labels = expand_user(labels)
    require_regular_file(labels, most_bytes=MAX_TEXT_BYTES)
    try:
        _check_header(labels)
        with warnings.catch_warnings():
            # With more fields than names the first would be taken for an index.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(labels, index_col=False)
    except (
        pd.errors.ParserError,
        pd.errors.ParserWarning,
        pd.errors.EmptyDataError,
        UnicodeDecodeError,
    ) as error:
        raise ValueError(
            f"discover: the labels in {str(labels)!r} cannot be read as CSV "
            f"({str(error).strip()})."
        ) from error


def _check_header(path: Path) -> None:
    """Refuse equal names, which pandas would make different by numbering them."""
    first = pd.read_csv(path, header=None, nrows=1, dtype=str, keep_default_na=False)
    names = first.iloc[0].tolist()
    twice = [name for index, name in enumerate(names) if name in names[:index]]
    if twice:
        raise ValueError(
            "discover: every column of labels needs a name of its own, got "
            f"{twice[0]!r} twice."
        )


def _rows(
    key: str, given: Sequence[Any], n_rows: int, names: Sequence[str]
) -> NDArray[np.int64]:
    if key == "file":
        row_of = {printable_name(name): row for row, name in enumerate(names)}
        row_of |= {name: row for row, name in enumerate(names)}
        unknown = [name for name in given if name not in row_of]
        if unknown:
            raise ValueError(
                f"discover: {unknown[0]!r} has labels, but is not a file of the data."
            )
        given = [row_of[name] for name in given]
    rows = np.array(given)
    if rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n_rows:
        raise ValueError(
            f"discover: rows of labels must be integers from 0 to {n_rows - 1:,}."
        )
    found, counts = np.unique(rows, return_counts=True)
    if counts.max() > 1:
        raise ValueError(
            "discover: each image may have one line of labels, but row "
            f"{found[counts.argmax()]} has {counts.max()}."
        )
    return rows.astype(np.int64)
