"""Inputs of metrics: reading and checking codes and factors."""

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data import Kind
from unbraid.foundation import check_count, html_table

from ._kinds import is_measured, resolve_kinds

if TYPE_CHECKING:
    import pandas as pd

BINS = 20
"""Number of equal-width bins of continuous values, as in the published studies."""

_ROWS_AT_ONCE = 2**16
"""Rows that are checked at a time, to avoid a copy of a large table."""

_LARGEST = 1e35
"""Largest number that is accepted; numbers below its inverse become 0.

Fourth powers then fit into float64, and sums into float32.
"""


class Factors:
    """Ground-truth factors of a set of rows: discrete, continuous or partly missing.

    Args:
        values: One row per observation, ``(n_rows, n_factors)``, or ``(n_rows,)`` for a
            single factor. Integers, booleans, or floats; NaN means that the label is
            missing, as do masked entries. A metric leaves out, for each factor, the
            rows where it is missing. A pandas DataFrame or Series may also have text
            and categories, and brings its column names.
        names: One name per factor. By default the column names of a DataFrame, and
            ``factor_0``, ... for an array.
        kinds: ``"ordinal"``, ``"categorical"``, ``"cyclic"`` or ``"continuous"`` for
            each factor, or for some of them by name. By default, text and categories
            are categorical (ordered categories ordinal), and numbers are ordinal if
            they are whole, few and repeated, else continuous. Whole numbers are
            continuous if they have more than 40 distinct values, or more than 20 with
            fewer than 10 rows per value on average: an age, but not one of 32
            positions. A cyclic factor with real values, such as a measured angle, is
            binned where classes are needed, as a continuous factor is: that is one with
            values that are not whole numbers, and with more than 100 distinct values or
            with most values seen once.

    Raises:
        ValueError: If the table is not numbers in two dimensions, has no rows or no
            columns, a value beyond 1e35, integers that float64 cannot tell apart, or a
            factor with fewer than two distinct values; or if a column of a DataFrame
            is a date, mixes numbers and text, or has a different text in most rows.
            The message names the column.

    Example:
        >>> factors = Factors([[0, 0.5], [10, 0.25], [10, np.nan]], names=("a", "b"))
        >>> factors.kinds, factors.sizes
        (('ordinal', 'continuous'), (2, 20))
        >>> factors.labels
        array([[ 0, 19],
               [ 1,  0],
               [ 1, -1]])
        >>> import pandas as pd
        >>> frame = pd.DataFrame({"color": ["red", "blue", "red"], "hour": [0, 12, 23]})
        >>> Factors(frame, kinds={"hour": "cyclic"})
        Factors(3 rows: color (categorical, 2 values), hour (cyclic, 3 values))
    """

    def __init__(
        self,
        values: "ArrayLike | pd.DataFrame | pd.Series",
        *,
        names: Sequence[str] | None = None,
        kinds: Sequence[Kind] | Mapping[str, Kind] | None = None,
    ) -> None:
        columns = []
        if _is_frame(values):
            from ._frames import read_frame

            columns = read_frame(values)
            values = np.column_stack([column.values for column in columns])
            names = names or [column.name for column in columns]
        table = _table("factors", values)
        n_factors = table.shape[1]
        self.names = tuple(names or (f"factor_{i}" for i in range(n_factors)))
        values = _numbers("factors", table, self.names)
        # Classes are cached, so the values must not change with the caller's array.
        is_shared = np.may_share_memory(values, table)
        self.values = values.copy() if is_shared else values
        self.classes = tuple(column.classes for column in columns) or ((),) * n_factors
        implied: list[Kind | None] = [column.kind for column in columns]
        self.kinds: tuple[Kind, ...] = resolve_kinds(
            self.names, self.values, kinds, implied or [None] * n_factors
        )
        _check_told_apart(table, self)
        for factor in range(n_factors):
            self._check_varies(factor)

    def _check_varies(self, factor: int) -> None:
        column = self.values[:, factor]
        known = column[~np.isnan(column)]
        if len(known) and (known != known[0]).any():
            return
        reason = "has no known label"
        if len(known):
            classes = self.classes[factor]
            value = repr(classes[int(known[0])]) if classes else known[0]
            reason = f"has the same value, {value}, in every row"
        raise ValueError(
            f"factors: {self.names[factor]!r} {reason}. Drop this factor, or sample "
            "rows in which it varies."
        )

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype)

    def __getitem__(self, index: Any) -> Any:
        """Return entries of ``values``, so that factors work like an array."""
        return self.values[index]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and factors."""
        return len(self.values), self.values.shape[1]

    def __repr__(self) -> str:
        parts = [
            f"{name} ({kind}{'' if binned else f', {size} values'})"
            for name, kind, size, binned in zip(
                self.names, self.kinds, self.sizes, self.is_binned, strict=True
            )
        ]
        return f"Factors({len(self):,} rows: {', '.join(parts)})"

    def _repr_html_(self) -> str:
        """Return a table with one row per factor, for notebooks."""
        columns = ("factor", "kind", "values", "missing")
        rows = [
            (name, kind, self._summarize(i), f"{(~self.known[:, i]).sum():,}")
            for i, (name, kind) in enumerate(zip(self.names, self.kinds, strict=True))
        ]
        return html_table(columns, rows, title=f"{len(self):,} rows")

    def _summarize(self, factor: int) -> str:
        """Return the range of a factor, or its classes, as text."""
        classes = self.classes[factor]
        if classes:
            more = "" if len(classes) <= 5 else f" and {len(classes) - 5} more"
            return ", ".join(classes[:5]) + more
        low = np.nanmin(self.values[:, factor])
        high = np.nanmax(self.values[:, factor])
        count = "" if self.is_binned[factor] else f" ({self.sizes[factor]} values)"
        return f"{low:g} to {high:g}{count}"

    @property
    def n_factors(self) -> int:
        """Number of columns."""
        return self.values.shape[1]

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """Class numbers from 0, ``(n_rows, n_factors)``; -1 where missing.

        Distinct values are numbered in ascending order; factors with real values (see
        ``is_binned``) are put into 20 bins of equal width.
        """
        columns = zip(self.values.T, self.is_binned, strict=True)
        return np.stack([_labels(column, binned) for column, binned in columns], axis=1)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of classes of each factor."""
        sizes = self.labels.max(axis=0) + 1
        return tuple(
            BINS if binned else int(size)
            for size, binned in zip(sizes, self.is_binned, strict=True)
        )

    @cached_property
    def is_binned(self) -> tuple[bool, ...]:
        """Whether the classes of each factor are bins of real values."""
        columns = zip(self.values.T, self.kinds, strict=True)
        return tuple(
            kind == "continuous" or (kind == "cyclic" and is_measured(column))
            for column, kind in columns
        )

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Whether each label is known, ``(n_rows, n_factors)``."""
        return ~np.isnan(self.values)

    def at(self, rows: NDArray[np.integer]) -> "Factors":
        """Return the factors of some rows, with the same class numbers."""
        part = object.__new__(Factors)
        part.values, part.names, part.kinds = self.values[rows], self.names, self.kinds
        part.labels, part.sizes = self.labels[rows], self.sizes
        part.is_binned, part.classes = self.is_binned, self.classes
        return part

    def with_kinds(self, kinds: Mapping[str, Kind]) -> "Factors":
        """Return the factors with other kinds for some of them, by name."""
        own = dict(zip(self.names, self.kinds, strict=True))
        implied: list[Kind | None] = [
            kind if classes else None
            for kind, classes in zip(self.kinds, self.classes, strict=True)
        ]
        other = object.__new__(Factors)
        other.values, other.names, other.classes = self.values, self.names, self.classes
        other.kinds = resolve_kinds(self.names, self.values, {**own, **kinds}, implied)
        return other


def _is_frame(values: Any) -> "TypeGuard[pd.DataFrame | pd.Series]":
    # Whoever has a DataFrame has imported pandas; others need not wait for it.
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(values, pandas.DataFrame | pandas.Series)


def read_inputs(
    caller: str, codes: ArrayLike, factors: "ArrayLike | Factors"
) -> tuple[NDArray[np.float64], Factors]:
    """Read and check the codes and factors of a metric.

    Args:
        caller: Name of the metric, for the message.
        codes: Codes, ``(n_rows, n_latents)``, finite numbers.
        factors: :class:`Factors`, or anything from which they can be made.

    Returns:
        Codes as float64, read-only as in :func:`read_codes`, and the factors.

    Raises:
        ValueError: If an input is not valid, or if the rows do not match.
    """
    codes = read_codes(caller, codes)
    if not isinstance(factors, Factors):
        try:
            factors = Factors(factors)
        except ValueError as error:
            raise ValueError(f"{caller}: {error}") from None
    if len(codes) != len(factors):
        raise ValueError(
            f"{caller}: codes and factors must have the same number of rows, got "
            f"{len(codes)} and {len(factors)}."
        )
    return codes, factors


def read_codes(caller: str, codes: ArrayLike) -> NDArray[np.float64]:
    """Read and check codes, ``(n_rows, n_latents)``, finite, with at least two rows.

    Returns:
        Codes as a read-only array of float64, which may share memory with the input.
    """
    source = f"{caller}: codes"
    numbers = _numbers(source, _table(source, codes)).view()
    numbers.flags.writeable = False
    if np.isnan(numbers).any():
        row, column = np.argwhere(np.isnan(numbers))[0]
        raise ValueError(
            f"{caller}: codes must be finite, but row {row}, column {column} is NaN. "
            "Drop such rows, or find out why the encoder returned them."
        )
    check_count(f"{caller}: the number of rows", len(numbers), least=2)
    return numbers


def require_two_latents(caller: str, codes: NDArray[np.float64]) -> None:
    """Raise an error if codes have one latent only."""
    if codes.shape[1] < 2:
        raise ValueError(
            f"{caller} needs at least two latents, but codes has shape {codes.shape}."
        )


def require_two_factors(caller: str, factors: Factors) -> None:
    """Raise an error if there is one factor only."""
    if factors.n_factors < 2:
        raise ValueError(
            f"{caller} needs at least two factors, but there is only "
            f"{factors.names[0]!r}."
        )


def _table(source: str, values: Any) -> NDArray[Any]:
    """Return an array of numbers of any type, ``(n_rows, n_columns)``."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{source} must be a table of numbers, but rows have different lengths."
        ) from None
    except (TypeError, RuntimeError):  # such as a tensor that requires a gradient
        raise ValueError(
            f"{source} must be a table of numbers, but numpy cannot convert "
            f"{type(values).__name__}."
        ) from None
    if array.dtype == object and any(isinstance(x, str | bytes) for x in array.flat):
        raise ValueError(f"{source} must be real numbers, but there is text.")
    if array.dtype.kind not in "biufO":
        raise ValueError(
            f"{source} must be real numbers, got {array.dtype}. Text is only read from "
            "a pandas DataFrame of factors."
        )
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{source} must have shape (n_rows, n_columns), got {array.shape}."
        )
    return array


def _numbers(
    source: str, table: NDArray[Any], names: Sequence[str] = ()
) -> NDArray[np.float64]:
    """Return a table as float64, without numbers whose squares overflow or vanish."""
    try:
        with np.errstate(over="ignore"):  # to infinity, which raises an error below
            numbers = table.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"{source} must be a table of numbers, but there are other objects."
        ) from None
    except OverflowError:
        numbers = np.array([[np.inf]])
    for start in range(0, len(numbers), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        sizes = np.abs(numbers[part])
        largest = np.fmax.reduce(sizes, axis=None)
        if largest > _LARGEST:
            row, column = divmod(int(np.nanargmax(sizes)), sizes.shape[1])
            where = repr(names[column]) if len(names) > column else f"{column}"
            raise ValueError(
                f"{source} must be finite and at most {_LARGEST:g} in size, but column "
                f"{where}, row {start + row} is {largest:g}. Rescale the numbers, or "
                "drop such rows."
            )
        vanishing = (sizes < 1 / _LARGEST) & (sizes > 0)
        if vanishing.any():
            if np.may_share_memory(numbers, table):
                numbers = numbers.copy()
            numbers[part][vanishing] = 0.0
    return numbers


def _check_told_apart(table: NDArray[Any], factors: Factors) -> None:
    """Raise an error for integers that differ, but are equal as float64."""
    if table.dtype.kind not in "iuO" or not (np.abs(factors.values) > 2**53).any():
        return
    columns = zip(factors.names, table.T, factors.values.T, strict=True)
    for name, given, column in columns:
        known = ~np.isnan(column)
        if len(set(given[known].tolist())) != len(np.unique(column[known])):
            raise ValueError(
                f"factors: {name!r} has integers above 2**53 that are equal as "
                "float64. Number its values from 0."
            )


def _labels(column: NDArray[np.float64], is_binned: bool) -> NDArray[np.int64]:
    labels = np.full(len(column), -1, dtype=np.int64)
    known = ~np.isnan(column)
    if is_binned:
        labels[known] = to_bins(column[known], BINS)
    else:
        labels[known] = np.unique(column[known], return_inverse=True)[1]
    return labels


def to_bins(values: NDArray[np.floating], bins: int) -> NDArray[np.int64]:
    """Return the number, from 0, of the equal-width bin of each value."""
    low, high = values.min(), values.max()
    if 0 < high - low < 2 * bins * np.spacing(max(abs(low), abs(high))):
        # Far from zero and close to each other: there are no floats between them.
        values = values - low
    if 0 < values.max() - values.min() < bins * np.finfo(np.float64).tiny:
        values = values * 2.0**500  # numbers so small that bins would have no width
    edges = np.histogram_bin_edges(values, bins)
    # Inner edges only, so that the largest value falls in the last bin, not past it.
    return np.digitize(values, edges[1:-1])
