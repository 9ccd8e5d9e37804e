"""What every metric is given: codes and factors, checked where they enter."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data import Kind

BINS = 20
"""Equal-width bins for what is continuous, as in the published studies."""

_MOST_ANGLES = 100
"""Distinct fractions that a cyclic factor may have and still be a set of classes."""

_ROWS_AT_ONCE = 2**16
"""Rows that are checked at a time, so that a large table needs no second copy."""

_LARGEST = 1e35
"""Larger numbers are refused, and those as near to zero are zero, so that float64 has
all fourth powers and float32 all sums."""


class Factors:
    """Ground-truth factors of a set of rows: discrete, continuous or partly missing.

    Args:
        values: One row per observation, ``(n_rows, n_factors)``, or ``(n_rows,)`` for a
            single factor. Integers, booleans, or floats; NaN means that the label is
            missing, as do masked entries. A metric leaves out, for each factor, the
            rows where it is missing.
        names: One name per factor; ``factor_0``, ... when not given.
        kinds: ``"ordinal"``, ``"categorical"``, ``"cyclic"`` or ``"continuous"`` for
            each factor. When not given, a factor with values that are not whole
            numbers is continuous, every other one ordinal. A cyclic factor with real
            values, such as a measured angle, is binned where classes are needed, as a
            continuous factor is: that is one with values that are not whole numbers,
            and with more than 100 distinct values or with most values seen once.

    Raises:
        ValueError: If the table is not numbers in two dimensions, has no rows or no
            columns, a value beyond 1e35, integers that float64 cannot tell apart, or a
            factor with fewer than two distinct values.

    Example:
        >>> factors = Factors([[0, 0.5], [10, 0.25], [10, np.nan]], names=("a", "b"))
        >>> factors.kinds, factors.sizes
        (('ordinal', 'continuous'), (2, 20))
        >>> factors.labels
        array([[ 0, 19],
               [ 1,  0],
               [ 1, -1]])
    """

    def __init__(
        self,
        values: ArrayLike,
        *,
        names: Sequence[str] | None = None,
        kinds: Sequence[Kind] | None = None,
    ) -> None:
        table = _table("factors", values)
        values = _numbers("factors", table)
        # Classes are cached, so the values must not change with the caller's array.
        is_shared = np.may_share_memory(values, table)
        self.values = values.copy() if is_shared else values
        n_factors = self.values.shape[1]
        self.names = tuple(names or (f"factor_{i}" for i in range(n_factors)))
        self.kinds: tuple[Kind, ...] = (
            tuple(kinds) if kinds else tuple(_kind(column) for column in self.values.T)
        )
        if not len(self.names) == len(self.kinds) == n_factors:
            raise ValueError(
                f"factors: expected {n_factors} names and kinds, one per column, got "
                f"{len(self.names)} and {len(self.kinds)}."
            )
        unknown = sorted(set(self.kinds) - set(get_args(Kind)))
        if unknown:
            raise ValueError(
                f"factors: expected kinds among {get_args(Kind)}, got {unknown}."
            )
        _check_told_apart(table, self)
        for name, column in zip(self.names, self.values.T, strict=True):
            known = column[~np.isnan(column)]
            if not len(known) or (known == known[0]).all():
                raise ValueError(
                    f"factors: expected {name!r} to vary, got "
                    f"{'no known label' if not len(known) else known[0]} in every row. "
                    "Drop this factor, or sample rows in which it varies."
                )

    def __len__(self) -> int:
        return len(self.values)

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
            kind == "continuous" or (kind == "cyclic" and _is_measured(column))
            for column, kind in columns
        )

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Where the label is not missing, ``(n_rows, n_factors)``."""
        return ~np.isnan(self.values)

    def at(self, rows: NDArray[np.integer]) -> "Factors":
        """The factors of some rows, with the class numbers they have here."""
        part = object.__new__(Factors)
        part.values, part.names, part.kinds = self.values[rows], self.names, self.kinds
        part.labels, part.sizes = self.labels[rows], self.sizes
        part.is_binned = self.is_binned
        return part


def read_inputs(
    who: str, codes: ArrayLike, factors: "ArrayLike | Factors"
) -> tuple[NDArray[np.float64], Factors]:
    """Codes and factors as every metric wants them, or a clear error.

    Args:
        who: Name of the metric, for the message.
        codes: ``(n_rows, n_latents)``, finite numbers.
        factors: Anything :class:`Factors` takes, or one of them.

    Returns:
        Codes as float64, read-only as in :func:`read_codes`, and the factors, of the
        same rows.
    """
    codes = read_codes(who, codes)
    if not isinstance(factors, Factors):
        try:
            factors = Factors(factors)
        except ValueError as error:
            raise ValueError(f"{who}: {error}") from None
    if len(codes) != len(factors):
        raise ValueError(
            f"{who}: expected codes and factors of the same rows, got {len(codes)} "
            f"rows of codes and {len(factors)} of factors."
        )
    return codes, factors


def read_codes(who: str, codes: ArrayLike) -> NDArray[np.float64]:
    """Codes as float64 ``(n_rows, n_latents)``, finite, at least two rows.

    A table that is ready is not copied: the array is read-only and may share its memory
    with what was given.
    """
    where = f"{who}: codes"
    numbers = _numbers(where, _table(where, codes)).view()
    numbers.flags.writeable = False
    if np.isnan(numbers).any():
        raise ValueError(
            f"{who}: expected finite codes, got NaN. Drop those rows, or find out why "
            "the encoder made them."
        )
    if len(numbers) < 2:
        raise ValueError(f"{who}: expected at least two rows, got {len(numbers)}.")
    return numbers


def _table(who: str, values: Any) -> NDArray[Any]:
    """Numbers of any type ``(n_rows, n_columns)``, or a clear error."""
    if isinstance(values, np.ma.MaskedArray) and values.dtype.kind in "biuf":
        values = np.ma.filled(values.astype(np.float64), np.nan)
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(
            f"{who}: expected a table of numbers, got rows of different lengths."
        ) from None
    except (TypeError, RuntimeError):  # such as a tensor that belongs to a gradient
        raise ValueError(
            f"{who}: expected a table of numbers, got {type(values).__name__} that "
            "numpy cannot read."
        ) from None
    if array.dtype == object and any(isinstance(x, str | bytes) for x in array.flat):
        raise ValueError(f"{who}: expected real numbers, got text.")
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{who}: expected real numbers, got {array.dtype}.")
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{who}: expected a table (n_rows, n_columns), got shape {array.shape}."
        )
    return array


def _numbers(who: str, table: NDArray[Any]) -> NDArray[np.float64]:
    """A table as float64, free of what overflows or vanishes when it is squared."""
    try:
        with np.errstate(over="ignore"):  # to infinity, which is refused below
            numbers = table.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        raise ValueError(
            f"{who}: expected a table of numbers, got other objects."
        ) from None
    except OverflowError:
        numbers = np.array([[np.inf]])
    for start in range(0, len(numbers), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        sizes = np.abs(numbers[part])
        largest = np.fmax.reduce(sizes, axis=None)
        if largest > _LARGEST:
            raise ValueError(
                f"{who}: expected finite numbers up to {_LARGEST:g} in size, got "
                f"{largest:g}. Rescale them, or drop those rows."
            )
        vanishing = (sizes < 1 / _LARGEST) & (sizes > 0)
        if vanishing.any():
            if np.may_share_memory(numbers, table):
                numbers = numbers.copy()
            numbers[part][vanishing] = 0.0
    return numbers


def _check_told_apart(table: NDArray[Any], factors: Factors) -> None:
    """Refuse integers that are different, but equal as float64."""
    if table.dtype.kind not in "iuO" or not (np.abs(factors.values) > 2**53).any():
        return
    columns = zip(factors.names, table.T, factors.values.T, strict=True)
    for name, given, column in columns:
        known = ~np.isnan(column)
        if len(set(given[known].tolist())) != len(np.unique(column[known])):
            raise ValueError(
                f"factors: expected {name!r} to have integers up to 2**53, got some "
                "beyond it that differ by too little. Number its values from 0."
            )


def _kind(column: NDArray[np.float64]) -> Kind:
    known = column[~np.isnan(column)]
    return "ordinal" if (known == np.round(known)).all() else "continuous"


def _is_measured(column: NDArray[np.float64]) -> bool:
    """Whether values are real numbers, and not a few that come again and again."""
    known = column[~np.isnan(column)]
    if (known == np.round(known)).all():
        return False
    n_values = len(np.unique(known))
    return n_values > min(_MOST_ANGLES, len(known) / 2)


def _labels(column: NDArray[np.float64], is_binned: bool) -> NDArray[np.int64]:
    labels = np.full(len(column), -1, dtype=np.int64)
    known = ~np.isnan(column)
    if is_binned:
        labels[known] = to_bins(column[known], BINS)
    else:
        labels[known] = np.unique(column[known], return_inverse=True)[1]
    return labels


def to_bins(values: NDArray[np.floating], bins: int) -> NDArray[np.int64]:
    """Number of the equal-width bin, from 0, that each value falls into."""
    low, high = values.min(), values.max()
    if 0 < high - low < 2 * bins * np.spacing(max(abs(low), abs(high))):
        # So near to each other, so far from zero: there are no edges between them.
        values = values - low
    edges = np.histogram_bin_edges(values, bins)
    # Inner edges only, so that the largest value falls in the last bin, not past it.
    return np.digitize(values, edges[1:-1])
