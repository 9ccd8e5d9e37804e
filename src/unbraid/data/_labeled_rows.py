"""Labeled rows: a few rows whose labels may be seen, next to those whose may not."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_seed, numpy_generator

from ._dataset import AbstractDataset
from ._sampling import AbstractSampler, Companions, Singles


@dataclass(frozen=True, kw_only=True)
class LabeledRows(AbstractSampler):
    """One row for every anchor, from a small set that never changes.

    The set is drawn once, each row of the dataset at most once; then rows of the set
    are drawn with replacement. Weights are ignored: they say how often an anchor is
    seen, not which rows someone took the trouble to label.

    Args:
        n_labels: Rows of the set, from 1 to the length of the dataset.
        seed: Of the set.
        after: A sampler whose companions come before the labeled row.

    Example:
        >>> from unbraid.data import XYSquares
        >>> draw = LabeledRows(n_labels=3).bind(XYSquares())
        >>> rows = draw(np.zeros(500, dtype=int), generator=numpy_generator(0))
        >>> rows.shape, len(np.unique(rows))
        ((500, 1), 3)

    References:
        Locatello et al. (2020), Disentangling Factors of Variation Using Few Labels.
        https://arxiv.org/abs/1905.01258
    """

    n_companions: ClassVar[int] = 1

    n_labels: int = 100
    seed: int = 0
    after: AbstractSampler = field(default_factory=Singles)

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not isinstance(self.n_labels, int) or self.n_labels < 1:
            raise ValueError(
                f"LabeledRows: expected n_labels from 1, got {self.n_labels!r}."
            )
        # The number is the sampler's own, where other kinds have one for all.
        object.__setattr__(self, "n_companions", self.after.n_companions + 1)

    def bind(self, dataset: AbstractDataset) -> Companions:
        """The function that draws a labeled row for each anchor."""
        if not dataset.factor_names:
            raise ValueError(
                f"LabeledRows: expected a dataset with labels, got {dataset.name!r} "
                "without."
            )
        if self.n_labels > len(dataset):
            raise ValueError(
                f"LabeledRows: expected n_labels up to {len(dataset)}, the rows of "
                f"{dataset.name!r}, got {self.n_labels}."
            )
        generator = numpy_generator(self.seed, "labelled rows")
        rows = generator.choice(len(dataset), self.n_labels, replace=False)
        return _BoundRows(np.sort(rows), self.after.bind(dataset))


@dataclass(frozen=True, eq=False)
class _BoundRows:
    rows: NDArray[np.int64]
    after: Companions

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        before = self.after(anchors, generator=generator)
        return np.column_stack([before, generator.choice(self.rows, len(anchors))])
