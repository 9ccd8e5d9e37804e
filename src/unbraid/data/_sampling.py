"""Base class of samplers of single observations, pairs and triplets.

A sampler is a record of settings. Bound to a dataset, it becomes a function from
anchors to companions; tables that the search needs are built once, by the binding.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset


class Companions(Protocol):
    """A sampler bound to a dataset, which draws companions of anchors."""

    def __call__(
        self, anchors: NDArray[np.int64], *, generator: np.random.Generator
    ) -> NDArray[np.int64]:
        """Draw companions.

        Args:
            anchors: Rows of the dataset, shape ``(n,)``.
            generator: Source of randomness; the same state gives the same rows.

        Returns:
            Rows of the dataset, shape ``(n, n_companions)``.
        """
        ...


class AbstractSampler(abc.ABC):
    """Settings of a sampler, which draws companions of rows of a dataset."""

    n_companions: ClassVar[int]

    @abc.abstractmethod
    def bind(self, dataset: AbstractDataset) -> Companions:
        """Check the dataset, and return the function that draws companions."""

    def companions(
        self,
        dataset: AbstractDataset,
        anchors: NDArray[np.int64],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw companions once. To draw several times, call ``bind`` once instead.

        Args:
            dataset: Dataset from which companions are drawn.
            anchors: Row numbers of the anchors, shape ``(n,)``.
            generator: Source of randomness.

        Returns:
            Row numbers, shape ``(n, n_companions)``.
        """
        return self.bind(dataset)(anchors, generator=generator)


@dataclass(frozen=True, kw_only=True)
class Singles(AbstractSampler):
    """Sampler of single observations, without companions.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.foundation import numpy_generator
        >>> rows = np.array([3, 1, 4])
        >>> Singles().companions(
        ...     XYSquares(), rows, generator=numpy_generator(0)
        ... ).shape
        (3, 0)
    """

    n_companions: ClassVar[int] = 0

    def bind(self, dataset: AbstractDataset) -> Companions:
        """Return the function that draws no companions."""
        return _draw_nothing


def _draw_nothing(
    anchors: NDArray[np.int64], *, generator: np.random.Generator
) -> NDArray[np.int64]:
    return np.empty((len(anchors), 0), dtype=np.int64)
