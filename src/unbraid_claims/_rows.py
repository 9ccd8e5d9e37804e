"""Random rows of a large dataset."""

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator


def random_rows(n_images: int, n_rows: int, *name: str | int) -> NDArray[np.int64]:
    """Return random rows without repetition, in ascending order.

    Every n-th row would be biased: rows of a grid of factors are in mixed-radix order,
    so a regular step skips values of the last factors.

    Args:
        n_images: Number of images in the dataset.
        n_rows: Number of rows, limited to the size of the dataset.
        name: Name of the random stream. Draws with different names differ.

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
