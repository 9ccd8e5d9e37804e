"""Views of a dataset, with other rows, labels or weights."""

import abc
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_not_empty, check_option, check_shape

from ._dataset import AbstractDataset, Kind
from ._factor_space import FactorSpace


class AbstractView(AbstractDataset):
    """A view of another dataset, its base, of which it changes some properties."""

    @property
    @abc.abstractmethod
    def base(self) -> AbstractDataset:
        """The dataset of which this is a view."""

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Shape of an image of the base."""
        return self.base.image_shape

    def __len__(self) -> int:
        return len(self.base)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.base.images(indices)

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the known factors; empty when there are no labels."""
        return self.base.factor_names

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Kind of each known factor."""
        return self.base.factor_kinds

    @property
    def factor_space(self) -> FactorSpace | None:
        """Names, sizes and kinds if all factors are discrete and known, or ``None``."""
        return self.base.factor_space

    @property
    def is_grid(self) -> bool:
        """Whether row ``i`` is combination ``i`` of the factor space, for every row."""
        return self.base.is_grid

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Relative frequency of each row when drawing rows, or ``None`` for uniform."""
        return self.base.weights

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any] | None:
        return self.base.factors(indices)


@dataclass(frozen=True, eq=False)
class AbstractTableView(AbstractView):
    """A view with its base in the field ``dataset``."""

    dataset: AbstractDataset

    @property
    def base(self) -> AbstractDataset:
        """The dataset of which this is a view."""
        return self.dataset

    def fingerprint(self) -> str:
        """Return a hash of the base's fingerprint and of the view's changes."""
        head = repr((self._hashed_name(), self.dataset.fingerprint()))
        digest = hashlib.sha256(head.encode())
        for part in self._changes():
            digest.update(part)
        return digest.hexdigest()

    def _hashed_name(self) -> str:
        """Name of the class in fingerprints."""
        return type(self).__name__

    @abc.abstractmethod
    def _changes(self) -> Iterator[bytes]:
        """Yield what the view changes, for the fingerprint."""


@dataclass(frozen=True, eq=False)
class Subset(AbstractTableView):
    """Some rows of a dataset, in a given order.

    Names, sizes and kinds of the factors do not change, even if some value no longer
    occurs. Rows keep their weights.

    Args:
        dataset: Dataset from which rows are selected.
        rows: Row numbers in ``dataset``, integers of shape ``(n,)``, at least one,
            repeated or not.

    Example:
        >>> from unbraid.data import XYSquares
        >>> corner = Subset(XYSquares(n_squares=1), [0, 1, 8])
        >>> len(corner), corner.is_grid
        (3, False)
        >>> corner.factors([2])
        array([[1, 0]])
    """

    rows: ArrayLike

    def __post_init__(self) -> None:
        rows = self.dataset._check_indices(self.rows)
        check_not_empty("rows", rows)
        object.__setattr__(self, "rows", _read_only(rows, np.int64))
        if self.weights is not None and not (self.weights > 0).any():
            raise ValueError(
                "rows must contain a row with positive weight, but all weights are 0."
            )

    @property
    def name(self) -> str:
        """Name of the base, followed by ``_subset``."""
        return f"{self.dataset.name}_subset"

    @property
    def is_grid(self) -> bool:
        """Whether these are all rows of a grid, in order."""
        return (
            self.dataset.is_grid
            and len(self) == len(self.dataset)
            and bool(np.array_equal(self._rows, np.arange(len(self))))
        )

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Weights of these rows in the base."""
        weights = self.dataset.weights
        return None if weights is None else weights[self._rows]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def _rows(self) -> NDArray[np.int64]:
        return np.asarray(self.rows)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self.dataset.images(self._rows[indices])

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any] | None:
        return self.dataset.factors(self._rows[indices])

    def _changes(self) -> Iterator[bytes]:
        yield self._rows.tobytes()


@dataclass(frozen=True, eq=False)
class Relabeled(AbstractTableView):
    """The same images with other labels.

    Args:
        dataset: Dataset of images, with or without labels.
        table: Labels, shape ``(len(dataset), n_factors)``. With a ``FactorSpace``,
            integers within its sizes. Otherwise, numbers, and NaN for missing labels.
        columns: Description of the columns: a ``FactorSpace`` if all are discrete and
            known, or a mapping from names to kinds (``"ordinal"``, ``"categorical"``,
            ``"cyclic"``, ``"continuous"``).

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=16)
        >>> sums = squares.factors(range(4)).sum(axis=1, keepdims=True)
        >>> diagonal = Relabeled(squares, sums, FactorSpace(("diagonal",), (3,)))
        >>> diagonal.factors([0, 3])
        array([[0],
               [2]])
    """

    table: ArrayLike
    columns: FactorSpace | Mapping[str, Kind]

    def __post_init__(self) -> None:
        table = np.asarray(self.table)
        n_columns = len(self.factor_names)
        check_shape("table", table, (len(self.dataset), n_columns))
        check_not_empty("table", table)
        if isinstance(self.columns, FactorSpace):
            self.columns.indices(table)
            table = _read_only(table, np.int64)
        else:
            for name, kind in self.columns.items():
                check_option(f"columns[{name!r}]", kind, Kind)
            table = _read_only(table, np.float64)
            if np.isinf(table).any():
                raise ValueError("Labels must be finite or NaN, got inf.")
            object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "table", table)

    @property
    def name(self) -> str:
        """Name of the base, followed by ``_relabelled``."""
        return f"{self.dataset.name}_relabelled"

    def _hashed_name(self) -> str:
        # Fingerprints in existing study folders contain this spelling.
        return "Relabelled"

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the columns."""
        if isinstance(self.columns, FactorSpace):
            return self.columns.names
        return tuple(self.columns)

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Kinds of the columns."""
        if isinstance(self.columns, FactorSpace):
            return self.columns.kinds
        return tuple(self.columns.values())

    @property
    def factor_space(self) -> FactorSpace | None:
        """Factor space of the labels if all are discrete and known, or ``None``."""
        return self.columns if isinstance(self.columns, FactorSpace) else None

    @property
    def is_grid(self) -> bool:
        """Whether row ``i`` is combination ``i`` of the factor space, for every row."""
        space = self.factor_space
        if space is None or space.size != len(self):
            return False
        return bool(np.array_equal(space.indices(self._table), np.arange(len(self))))

    @property
    def _table(self) -> NDArray[Any]:
        return np.asarray(self.table)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        return self._table[indices]

    def _changes(self) -> Iterator[bytes]:
        yield repr(self.columns).encode()
        yield self._table.tobytes()


@dataclass(frozen=True, eq=False)
class Reweighted(AbstractTableView):
    """The same images and labels, with other weights.

    Args:
        dataset: Dataset of images; its own weights, if any, are replaced.
        row_weights: Relative frequency of each row, shape ``(len(dataset),)``, at least
            0, and not all 0.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=16)
        >>> Reweighted(squares, [1, 0, 0, 1]).weights
        array([1., 0., 0., 1.])
    """

    row_weights: ArrayLike

    def __post_init__(self) -> None:
        weights = _read_only(np.asarray(self.row_weights), np.float64)
        check_shape("row_weights", weights, (len(self.dataset),))
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise ValueError(
                "row_weights must be finite, at least 0, and not all 0, got values "
                f"from {weights.min()} to {weights.max()}."
            )
        object.__setattr__(self, "row_weights", weights)

    @property
    def name(self) -> str:
        """Name of the base, followed by ``_reweighted``."""
        return f"{self.dataset.name}_reweighted"

    @property
    def weights(self) -> NDArray[np.float64]:
        """Relative frequency of each row."""
        return np.asarray(self.row_weights)

    def _changes(self) -> Iterator[bytes]:
        yield self.weights.tobytes()


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    copy = np.array(array, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy
