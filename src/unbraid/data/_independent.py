"""Independent companions: a second draw from the same data."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset
from ._sampling import AbstractSampler, Companions
from ._weighted_rows import WeightedRows


@dataclass(frozen=True, kw_only=True)
class Independent(AbstractSampler):
    """Sampler of one independent row for every anchor.

    The companions are a second batch of the same size, drawn with replacement by the
    dataset's weights, if it has any.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.foundation import numpy_generator
        >>> rows = np.array([3, 1, 4])
        >>> Independent().companions(
        ...     XYSquares(), rows, generator=numpy_generator(0)
        ... ).shape
        (3, 1)
    """

    n_companions: ClassVar[int] = 1

    def bind(self, dataset: AbstractDataset) -> Companions:
        """Return the function that draws a row for each anchor."""
        return _Draw(WeightedRows(len(dataset), dataset.weights))


@dataclass(frozen=True)
class _Draw:
    rows: WeightedRows

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        return self.rows.draw((len(anchors), 1), generator)
