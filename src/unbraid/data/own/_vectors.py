"""Vectors: rows of numbers, for data that are not images."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from unbraid.data._dataset import AbstractDataset, Kind
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_not_empty, check_shape, require_memory

from ._content import hash_content, hash_pixels
from ._factor_table import FactorTable


class Vectors(AbstractDataset):
    """Rows of a table as observations, in any range.

    Args:
        values: Finite numbers of shape ``(n, length)``, stored as ``float32``.
        factors: Factors, one row per vector, in any form that :class:`LabeledImages`
            accepts.
        factor_names: Names of the factors, which replace those of the table.
        name: Short lower-case name, for tables and file names.

    Example:
        >>> data = Vectors([[0.5, -2.0], [1.5, 4.0]], factors={"side": ["a", "b"]})
        >>> data.image_shape, data.images([1]).tolist(), data.factors([1]).tolist()
        ((2,), [[1.5, 4.0]], [[1]])
    """

    def __init__(
        self,
        values: ArrayLike | torch.Tensor,
        factors: ArrayLike | Mapping[str, Any] | str | None = None,
        *,
        factor_names: Sequence[str] | None = None,
        name: str = "vectors",
    ) -> None:
        self._name = name
        self._values = _read_values(values)
        self._table: FactorTable | None = None
        if factors is not None:
            # Imported when there are labels to read: pandas takes a third of a second.
            from ._encode_factors import encode_factors
            from ._factor_columns import read_columns

            columns = read_columns(factors, factor_names)
            if len(columns) != len(self._values):
                raise ValueError(
                    "factors must have one row per vector, got "
                    f"{len(self._values)} vectors and {len(columns)} rows."
                )
            self._table = encode_factors(columns, {})

    def __repr__(self) -> str:
        """Return a description in one line, without the numbers."""
        length = self._values.shape[1]
        return f"Vectors(name={self._name!r}: {len(self)} vectors of {length})"

    @property
    def name(self) -> str:
        """Short lower-case name, for tables and file names."""
        return self._name

    @property
    def image_shape(self) -> tuple[int]:
        """Length of every vector."""
        return (self._values.shape[1],)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the columns of the table of factors."""
        return self._table.names if self._table else ()

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Inferred kinds of the columns."""
        return self._table.kinds if self._table else ()

    @property
    def factor_space(self) -> FactorSpace | None:
        """Factor space if all factors are discrete and no label is missing."""
        return self._table.space if self._table else None

    @property
    def is_grid(self) -> bool:
        """Whether the rows are the complete grid in mixed-radix order."""
        return self._table is not None and self._table.is_grid

    def __len__(self) -> int:
        return len(self._values)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.float32]:
        return self._values[indices]

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any] | None:
        return self._table.rows[indices] if self._table else None

    def fingerprint(self) -> str:
        """Return a hash of all numbers and labels."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        values = self._table.values if self._table else ()
        return hash_content(self, hash_pixels(self._values), values)


def _read_values(values: ArrayLike | torch.Tensor) -> NDArray[np.float32]:
    if isinstance(values, torch.Tensor):
        values = values.detach().cpu().float().numpy()
    try:
        table = np.asarray(values)
    except ValueError as error:
        raise ValueError("All rows of values must have the same length.") from error
    check_shape("values", table, ("n", "length"))
    check_not_empty("values", table)
    if table.dtype.kind not in "biuf":
        raise ValueError(f"values must be numeric, got dtype {table.dtype}.")
    require_memory(2 * 4 * table.size, f"{table.size:,} values as float32")
    # A copy, so that the dataset does not change if the caller's array does.
    with np.errstate(over="ignore"):  # too large numbers become infinite, see below
        numbers = np.array(table, dtype=np.float32, order="C")
    if not np.isfinite(numbers).all():
        raise ValueError(
            "values must be finite, got NaN or infinity. Remove or fill such rows "
            "first."
        )
    return numbers
