"""Views: another choice of rows, other labels or other weights, the same images."""

import abc
import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._dataset import AbstractDataset, Kind
from ._factor_space import FactorSpace


class AbstractView(AbstractDataset):
    """A dataset seen through another one: what a view does not change is the base's."""

    @property
    @abc.abstractmethod
    def base(self) -> AbstractDataset:
        """The dataset underneath."""

    @property
    def image_shape(self) -> tuple[int, ...]:
        """That of the base."""
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
    """A view that keeps the dataset underneath in its field ``dataset``."""

    dataset: AbstractDataset

    @property
    def base(self) -> AbstractDataset:
        """The dataset that was given."""
        return self.dataset

    def fingerprint(self) -> str:
        """Hash of the base's fingerprint and of everything that the view changes."""
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
        """What makes this view differ from its base, for the fingerprint."""


@dataclass(frozen=True, eq=False)
class Subset(AbstractTableView):
    """Some rows of a dataset, in a given order.

    Names, sizes and kinds of the factors stay as they are, even if some value no longer
    occurs. Weights follow their rows.

    Args:
        dataset: Where the rows come from.
        rows: Row ``i`` of the view is row ``rows[i]`` of ``dataset``: integers, shape
            ``(n,)``, at least one, repeats allowed.

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
        rows = self.dataset._checked(self.rows)
        if not rows.size:
            raise ValueError("Subset: expected at least one row, got none.")
        object.__setattr__(self, "rows", _read_only(rows, np.int64))
        if self.weights is not None and not (self.weights > 0).any():
            raise ValueError(
                "Subset: expected a row with positive weight, got only rows that are "
                "never drawn."
            )

    @property
    def name(self) -> str:
        """The base's name and ``subset``."""
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
        """The base's weights of these rows."""
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
        dataset: Where the images come from; it need not have labels.
        table: Labels, shape ``(len(dataset), n_factors)``. With a ``FactorSpace``:
            integers within its sizes. Otherwise: numbers, NaN where a label is missing.
        columns: What the columns are: a ``FactorSpace`` if all are discrete and known,
            or a mapping from names to kinds (``"ordinal"``, ``"categorical"``,
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
        if not n_columns or table.shape != (len(self.dataset), n_columns):
            raise ValueError(
                "Relabeled: expected a row of labels per image and a column per "
                f"factor, at least one: {(len(self.dataset), n_columns)}, got shape "
                f"{table.shape}."
            )
        if isinstance(self.columns, FactorSpace):
            self.columns.indices(table)
            table = _read_only(table, np.int64)
        else:
            _check_kinds(self.columns)
            table = _read_only(table, np.float64)
            if np.isinf(table).any():
                raise ValueError("Relabeled: expected finite labels or NaN, got inf.")
            object.__setattr__(self, "columns", dict(self.columns))
        object.__setattr__(self, "table", table)

    @property
    def name(self) -> str:
        """The base's name and ``relabelled``."""
        return f"{self.dataset.name}_relabelled"

    def _hashed_name(self) -> str:
        # Fingerprints in existing study folders were made with this spelling.
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
        """The space of the labels if all are discrete and known, or ``None``."""
        return self.columns if isinstance(self.columns, FactorSpace) else None

    @property
    def is_grid(self) -> bool:
        """Whether the labels number the rows, in order."""
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
    """The same images and labels, each row drawn as often as its weight says.

    Args:
        dataset: Where the rows come from; its own weights, if any, are replaced.
        row_weights: Relative frequencies, not negative, not all zero, shape
            ``(len(dataset),)``.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=16)
        >>> Reweighted(squares, [1, 0, 0, 1]).weights
        array([1., 0., 0., 1.])
    """

    row_weights: ArrayLike

    def __post_init__(self) -> None:
        weights = _read_only(np.asarray(self.row_weights), np.float64)
        if weights.shape != (len(self.dataset),):
            raise ValueError(
                f"Reweighted: expected one weight for each of the {len(self.dataset)} "
                f"rows, got shape {weights.shape}."
            )
        if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise ValueError(
                "Reweighted: expected finite weights from 0, not all of them 0, got "
                f"values from {weights.min()} to {weights.max()}."
            )
        object.__setattr__(self, "row_weights", weights)

    @property
    def name(self) -> str:
        """The base's name and ``reweighted``."""
        return f"{self.dataset.name}_reweighted"

    @property
    def weights(self) -> NDArray[np.float64]:
        """The weights of this view."""
        return np.asarray(self.row_weights)

    def _changes(self) -> Iterator[bytes]:
        yield self.weights.tobytes()


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    copy = np.array(array, dtype=dtype, order="C")
    copy.setflags(write=False)
    return copy


def _check_kinds(columns: Mapping[str, Kind]) -> None:
    unknown = set(columns.values()) - set(get_args(Kind))
    if unknown:
        raise ValueError(
            f"Relabeled: expected kinds among {get_args(Kind)}, got {sorted(unknown)}."
        )
