"""Box: which actions and observations an environment has."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unbraid.foundation import numpy_generator


class Box:
    """Arrays of one shape with numbers in a range, as in ``gymnasium.spaces``.

    The package ``gymnasium`` is not needed.

    Args:
        low: Smallest number.
        high: Largest number.
        shape: Shape of the arrays.
        dtype: Type of the numbers.
        seed: Seed of :meth:`sample`.

    Example:
        >>> box = Box(0, 1, (4,), np.float32)
        >>> box.sample() in box, np.full(4, 2.0) in box
        (True, False)
    """

    def __init__(
        self,
        low: float,
        high: float,
        shape: tuple[int, ...],
        dtype: DTypeLike = np.float32,
        seed: int = 0,
    ) -> None:
        self.low, self.high, self.shape = low, high, shape
        self.dtype = np.dtype(dtype)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Restart the random numbers of :meth:`sample`."""
        self._generator = numpy_generator(seed, "box")

    def sample(self) -> NDArray[Any]:
        """Draw an array uniformly."""
        if self.dtype.kind in "iu":
            numbers = self._generator.integers(
                int(self.low), int(self.high) + 1, self.shape
            )
        else:
            numbers = self._generator.uniform(self.low, self.high, self.shape)
        return numbers.astype(self.dtype)

    def contains(self, array: Any) -> bool:
        """Whether an array has the shape, and numbers in the range."""
        array = np.asarray(array)
        in_range = (array >= self.low) & (array <= self.high)
        return array.shape == self.shape and bool(in_range.all())

    def __contains__(self, array: Any) -> bool:
        return self.contains(array)
