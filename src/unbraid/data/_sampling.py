"""Which observations go together: singles here, pairs and triplets in their own files.

A sampler is a record of settings. Bound to a dataset it becomes a function from anchors
to companions; tables that the search needs are made once, by the binding.
"""

import abc
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset


class Companions(Protocol):
    """A sampler bound to a dataset: rows that go with each anchor."""

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
    """Settings that say which rows of a dataset accompany a row."""

    n_companions: ClassVar[int]

    @abc.abstractmethod
    def bind(self, dataset: AbstractDataset) -> Companions:
        """Check the dataset, prepare the search, and give the function that draws."""

    def companions(
        self,
        dataset: AbstractDataset,
        anchors: NDArray[np.int64],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw companions once; to draw many times, ``bind`` once and call that.

        Args:
            dataset: Where the rows are.
            anchors: Rows, shape ``(n,)``.
            generator: Source of randomness.

        Returns:
            Rows, shape ``(n, n_companions)``.
        """
        return self.bind(dataset)(anchors, generator=generator)


@dataclass(frozen=True, kw_only=True)
class Singles(AbstractSampler):
    """No companions: every observation stands alone.

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
        """The function that gives no row to any anchor."""
        return _none


def _none(
    anchors: NDArray[np.int64], *, generator: np.random.Generator
) -> NDArray[np.int64]:
    return np.empty((len(anchors), 0), dtype=np.int64)
