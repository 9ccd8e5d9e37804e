"""Labeled rows: companions from a few rows whose labels are known."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_integer, check_seed, numpy_generator

from ._dataset import AbstractDataset
from ._labels import check_labeled
from ._sampling import AbstractSampler, Companions, Singles


@dataclass(frozen=True, kw_only=True)
class LabeledRows(AbstractSampler):
    """Sampler of one row for every anchor, from a small fixed set.

    The set is drawn once, without replacement; then rows of the set are drawn with
    replacement. Weights are ignored: they determine how often a row is an anchor, not
    which rows have labels.

    Args:
        n_labels: Number of rows in the set, at least 1 and at most the length of the
            dataset.
        seed: Seed of the choice of the set.
        after: Sampler whose companions precede the labeled row.

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
        check_integer("n_labels", self.n_labels, least=1)
        # Depends on the instance; other samplers have a constant of the class.
        object.__setattr__(self, "n_companions", self.after.n_companions + 1)

    def bind(self, dataset: AbstractDataset) -> Companions:
        """Return the function that draws a labeled row for each anchor."""
        check_labeled(dataset)
        check_integer("n_labels", self.n_labels, most=len(dataset))
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
