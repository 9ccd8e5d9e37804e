"""Base classes of datasets: uint8 images by index, and their factors if known."""

import abc
import hashlib
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._factor_space import FactorSpace, check_index_range

Kind = Literal["ordinal", "categorical", "cyclic", "continuous"]

LARGEST_IMAGE = 1024
"""Side of the largest image that is rendered or made from a picture, in pixels."""


class AbstractDataset(abc.ABC):
    """Images that are accessed by arrays of indices.

    A dataset has ``len``, one ``image_shape`` and :meth:`images`. If labels are known,
    it also has ``factor_names``, ``factor_kinds`` and :meth:`factors`; if all of them
    are discrete, a ``factor_space``; and if it is the complete grid of that space in
    mixed-radix order, ``is_grid`` is true, so that ``factor_space.indices`` gives the
    image of any combination. A dataset is immutable.

    To write one, subclass this (or :class:`AbstractFactorDataset` for a complete grid),
    implement the abstract members, and run ``unbraid.testing.check_dataset`` on it. If
    ``image_shape`` is a single number, an "image" is a ``float32`` vector of that
    length, in any range, which is not scaled.
    """

    def __getstate__(self) -> dict[str, Any]:
        # Copies, also those sent to another process, do not contain cached properties,
        # which may be large and are computed again when needed.
        return {
            name: value
            for name, value in vars(self).items()
            if not isinstance(getattr(type(self), name, None), cached_property)
        }

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Short lower-case name, for tables and file names."""

    @property
    @abc.abstractmethod
    def image_shape(self) -> tuple[int, ...]:
        """Channels, height and width of every image; or the length of vectors."""

    @abc.abstractmethod
    def __len__(self) -> int: ...

    @abc.abstractmethod
    def _gather(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        """Return images ``(n, channels, height, width)`` of valid indices ``(n,)``.

        Any memory layout is allowed, such as a view of channels-last images. The caller
        may write to the array.
        """

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Names of the known factors; empty when there are no labels."""
        return self.factor_space.names if self.factor_space else ()

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Kind of each known factor."""
        return self.factor_space.kinds if self.factor_space else ()

    @property
    def factor_space(self) -> FactorSpace | None:
        """Names, sizes and kinds if all factors are discrete and known, or ``None``."""
        return None

    @property
    def is_grid(self) -> bool:
        """Whether row ``i`` is combination ``i`` of the factor space, for every row."""
        return False

    @property
    def weights(self) -> NDArray[np.float64] | None:
        """Relative frequency of each row when drawing rows, or ``None`` for uniform."""
        return None

    def images(self, indices: ArrayLike) -> NDArray[Any]:
        """Return the images at the given indices.

        Args:
            indices: Integers from 0 to ``len(self) - 1``, shape ``(n,)``, in any order,
                repeated or not.

        Returns:
            ``uint8`` images, shape ``(n, channels, height, width)``, or ``float32``
            vectors ``(n, length)``. The caller may write to the array.
        """
        images = self._gather(self._check_indices(indices))
        # Torch does not support arrays with negative strides.
        is_reversed = any(stride < 0 for stride in images.strides)
        return np.ascontiguousarray(images) if is_reversed else images

    def factors(self, indices: ArrayLike) -> NDArray[Any] | None:
        """Return the factor values at the given indices, or ``None`` without labels.

        Returns:
            Values of shape ``(n, n_factors)``: ``int64`` if there is a
            ``factor_space``, otherwise ``float64`` with NaN where a label is missing.
        """
        return self._gather_factors(self._check_indices(indices))

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any] | None:
        """Return factor values of valid indices; override if there are labels."""
        return None

    def fingerprint(self) -> str:
        """Return a hash of the content, which is the same on any machine.

        It covers the number of images, the names of the factors, and up to 256 images
        spread evenly over the dataset, with their labels.
        """
        rows = np.unique(np.linspace(0, len(self) - 1, 256).round().astype(np.int64))
        digest = hashlib.sha256()
        digest.update(repr((len(self), self.image_shape, self.factor_names)).encode())
        digest.update(np.ascontiguousarray(self.images(rows)).tobytes())
        labels = self.factors(rows)
        if labels is not None:
            digest.update(np.ascontiguousarray(labels).tobytes())
        if self.weights is not None:
            digest.update(np.ascontiguousarray(self.weights).tobytes())
        return digest.hexdigest()

    def _check_indices(self, indices: ArrayLike) -> NDArray[np.int64]:
        array = np.asarray(indices)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(
                "indices must be a list or 1-d array of integers, got shape "
                f"{array.shape} of {array.dtype}."
            )
        check_index_range(array, len(self))
        return array.astype(np.int64, copy=False)


class AbstractFactorDataset(AbstractDataset):
    """A dataset of all combinations of its factors, in mixed-radix order."""

    @property
    @abc.abstractmethod
    def factor_space(self) -> FactorSpace:
        """Names, sizes and kinds of the factors."""

    @cached_property
    def _space(self) -> FactorSpace:
        # Cached, because it is used several times per training step.
        return self.factor_space

    @property
    def is_grid(self) -> bool:
        """Always true here."""
        return True

    def __len__(self) -> int:
        return self._space.size

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._space.factors(indices)
