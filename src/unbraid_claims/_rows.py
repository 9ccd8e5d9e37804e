"""Rows of a dataset that is too large to be measured whole."""

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator


def random_rows(n_images: int, n_rows: int, *name: str | int) -> NDArray[np.int64]:
    """Random rows without repetition, in ascending order.

    Every n-th row would not do: rows of a grid of factors are in mixed-radix order, so
    that a regular step leaves out values of the last factors.

    Args:
        n_images: Size of the dataset.
        n_rows: Number of rows wanted; all rows if the dataset has no more.
        name: Name of the stream of random numbers, so that other draws differ.

    Example:
        >>> random_rows(5, 9)
        array([0, 1, 2, 3, 4])
        >>> random_rows(1000, 4, "example").shape
        (4,)
    """
    if n_rows >= n_images:
        return np.arange(n_images)
    generator = numpy_generator(0, "reproductions", "rows", *name)
    return np.sort(generator.choice(n_images, n_rows, replace=False))
