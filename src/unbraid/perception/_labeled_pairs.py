"""Pairs of labeled rows, and the distances of their factors."""

import abc
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import (
    AbstractDataset,
    FactorSpace,
    Traversals,
    factor_distance,
    traversals_of_table,
)
from unbraid.foundation import check_number

_TRAVERSALS = 8
_MAX_VALUES = 8
_LEAST_VALUES = 3
"""Smallest number of values that have an order of distances."""


class AbstractLabeledRows(abc.ABC):
    """Rows of a dataset to draw from, and distances of their factors."""

    @property
    @abc.abstractmethod
    def can_traverse(self) -> bool:
        """Whether there are enough rows that differ in one factor only."""

    @abc.abstractmethod
    def draw(self, n_rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw a group of random rows, ``(1, n_rows)``."""

    @abc.abstractmethod
    def draw_traversals(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw rows of traversals of a random factor, ``(n_traversals, n_values)``."""

    @abc.abstractmethod
    def distances(self, rows: NDArray[np.int64]) -> torch.Tensor:
        """Return scaled distances of all pairs of each group, NaN if unknown.

        Args:
            rows: Rows of each group, ``(n_groups, group_size)``.

        Returns:
            Distances in any unit, ``(n_groups * n_pairs,)``.
        """

    @property
    @abc.abstractmethod
    def default_share(self) -> float:
        """Weight of pairs along factors, if it is not given."""

    def choose_share(self, along_factors: float | None) -> float:
        """Return the weight of pairs along factors, and check that there are some.

        Args:
            along_factors: Weight from 0 to 1; ``None`` for the default.
        """
        share = self.default_share if along_factors is None else along_factors
        check_number("along_factors", share, least=0.0, most=1.0)
        if share and not self.can_traverse:
            raise ValueError(
                "along_factors needs images that differ in one factor only, with three "
                "values or more of it, and there are none. Use along_factors=0."
            )
        return share


@dataclass(frozen=True, eq=False)
class GridRows(AbstractLabeledRows):
    """Rows of a grid, of which there may be more than memory could list.

    Args:
        space: Factors of the grid.
    """

    space: FactorSpace

    @property
    def can_traverse(self) -> bool:
        """Whether a factor has three values or more."""
        return max(self.space.sizes, default=0) >= _LEAST_VALUES

    @property
    def default_share(self) -> float:
        """One half, whether or not there are such pairs."""
        return 0.5

    def draw(self, n_rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw a group of random rows, ``(1, n_rows)``."""
        return generator.integers(self.space.size, size=(1, n_rows))

    def draw_traversals(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw rows of traversals of a random factor, ``(n_traversals, n_values)``."""
        columns = zip(self.space.names, self.space.sizes, strict=True)
        can_vary = [name for name, size in columns if size >= _LEAST_VALUES]
        factor = can_vary[generator.integers(len(can_vary))]
        origins = generator.integers(self.space.size, size=_TRAVERSALS)
        rows = self.space.traversals(factor, origins)
        chosen = generator.random(rows.shape).argsort(axis=1)[:, :_MAX_VALUES]
        return np.take_along_axis(rows, chosen, axis=1)

    def distances(self, rows: NDArray[np.int64]) -> torch.Tensor:
        """Return distances of all pairs of each group, as exact integers."""
        values = self.space.factors(rows)
        return _integer_distances(values, self.space)


@dataclass(frozen=True, eq=False)
class TableRows(AbstractLabeledRows):
    r"""Labeled rows of any dataset, in which combinations and labels may be missing.

    If labels are missing, the distance is the mean over the factors that are known in
    both rows, times the number of factors:

    .. math:: \frac{F}{|K|} \sum_{i \in K}
        \frac{|y_i - y'_i|}{\max y_i - \min y_i}

    With all labels, that is the scaled distance of the factors. Pairs without a common
    factor have no distance.

    Args:
        dataset: Dataset with labels.
        rows: Rows with one label or more.
        spans: Range of each factor, 0 if it is constant.
        traversals: Traversals of each factor with three values or more, in rows that
            have all labels; only factors that have some.

    References:
        Michlo (2022), dissertation, Eq. 5.11. Missing labels as in Gower (1971), A
        General Coefficient of Similarity and Some of Its Properties.
    """

    dataset: AbstractDataset
    rows: NDArray[np.int64]
    spans: NDArray[np.float64]
    traversals: tuple[Traversals, ...]

    @classmethod
    def of(cls, caller: str, dataset: AbstractDataset) -> "TableRows":
        """Read the labels of a dataset.

        Args:
            caller: Name of the function that needs them, for messages.
            dataset: Dataset with labels.
        """
        every = np.arange(len(dataset))
        labels = np.asarray(dataset.factors(every), dtype=np.float64)
        is_known = ~np.isnan(labels)
        ranges = [
            np.ptp(column[known]) if known.any() else 0.0
            for column, known in zip(labels.T, is_known.T, strict=True)
        ]
        if not any(ranges):
            raise ValueError(
                f"{caller} needs a factor with two values or more, but those of "
                f"{dataset.name!r} are constant or unknown."
            )
        return cls(
            dataset=dataset,
            rows=every[is_known.any(axis=1)],
            spans=np.array(ranges),
            traversals=_find_traversals(
                every[is_known.all(axis=1)], labels[is_known.all(axis=1)]
            ),
        )

    @property
    def can_traverse(self) -> bool:
        """Whether three rows differ in one factor only."""
        return bool(self.traversals)

    @property
    def default_share(self) -> float:
        """One half if there are such pairs."""
        return 0.5 if self.can_traverse else 0.0

    def draw(self, n_rows: int, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw a group of random rows, ``(1, n_rows)``."""
        return self.rows[generator.integers(len(self.rows), size=(1, n_rows))]

    def draw_traversals(self, generator: np.random.Generator) -> NDArray[np.int64]:
        """Draw rows of traversals of a random factor, ``(n_traversals, n_values)``."""
        found = self.traversals[generator.integers(len(self.traversals))]
        chosen = generator.integers(len(found.lengths), size=_TRAVERSALS)
        starts, lengths = found.starts[chosen], found.lengths[chosen]
        # Groups have the same size, that of the shortest.
        size = min(_MAX_VALUES, int(lengths.min()))
        indices = [
            start + generator.permutation(length)[:size]
            for start, length in zip(starts, lengths, strict=True)
        ]
        return found.rows[np.stack(indices)]

    def distances(self, rows: NDArray[np.int64]) -> torch.Tensor:
        """Return distances of all pairs of each group, NaN if unknown."""
        labels = np.asarray(self.dataset.factors(rows.reshape(-1)))
        labels = labels.reshape(*rows.shape, -1)
        if self.dataset.factor_space is not None:
            return _integer_distances(labels, self.dataset.factor_space)
        varies = self.spans > 0
        first, second = np.triu_indices(rows.shape[1], 1)
        labels = labels[..., varies] / self.spans[varies]
        apart = np.abs(labels[:, first] - labels[:, second]).reshape(-1, varies.sum())
        is_known = ~np.isnan(apart)
        sums = np.where(is_known, apart, 0.0).sum(axis=1)
        n_known = is_known.sum(axis=1)
        means = np.where(n_known > 0, sums / n_known.clip(1), np.nan)
        # Rounded, because equal sums may differ in the last digit.
        return torch.from_numpy(np.round(varies.sum() * means, 12))


def labeled_rows(caller: str, dataset: AbstractDataset) -> AbstractLabeledRows:
    """Return the rows of a dataset that have labels.

    Args:
        caller: Name of the function that needs them, for messages.
        dataset: Any dataset.

    Raises:
        TypeError: If it is not a dataset.
        ValueError: If it has no labels.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=2, n_squares=1)
        >>> labeled_rows("example", squares).distances(np.array([[0, 1, 3, 15]]))
        tensor([1, 3, 6, 2, 5, 3])
    """
    if not isinstance(dataset, AbstractDataset):
        raise TypeError(
            f"{caller} needs a dataset, got {type(dataset).__name__}. Wrap arrays in "
            "unbraid.data.LabeledImages, or open a name with "
            "unbraid.data.open_dataset."
        )
    if len(dataset.image_shape) != 3:
        raise ValueError(f"{caller} needs images, but the dataset has vectors.")
    if not dataset.factor_names:
        raise ValueError(
            f"{caller} needs labeled images, but {dataset.name!r} has no factors."
        )
    if dataset.is_grid and dataset.factor_space is not None:
        return GridRows(dataset.factor_space)
    return TableRows.of(caller, dataset)


def _integer_distances(labels: NDArray[np.int64], space: FactorSpace) -> torch.Tensor:
    first, second = np.triu_indices(labels.shape[1], 1)
    distances = factor_distance(labels[:, first], labels[:, second], space)
    return torch.from_numpy(distances.reshape(-1))


def _find_traversals(
    rows: NDArray[np.int64], labels: NDArray[np.float64]
) -> tuple[Traversals, ...]:
    """Return traversals with enough values, of factors that have some."""
    if not len(rows):
        return ()
    classes = [np.unique(column, return_inverse=True)[1] for column in labels.T]
    sizes = [int(column.max()) + 1 for column in classes]
    kept = []
    for found in traversals_of_table(rows, classes, sizes):
        if found is None:
            continue
        is_long = found.n_seen >= _LEAST_VALUES
        if is_long.any():
            kept.append(found.at(np.flatnonzero(is_long)))
    return tuple(kept)
