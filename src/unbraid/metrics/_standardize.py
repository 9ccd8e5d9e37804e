"""Standardizing codes."""

import numpy as np
from numpy.typing import NDArray


def standardize(
    codes: NDArray[np.float64], rows: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Shift and scale each latent so that over some rows it has mean 0 and deviation 1.

    Args:
        codes: Codes, ``(n_rows, n_latents)``.
        rows: Rows from which mean and deviation are computed, at least one.

    Returns:
        Codes of the same shape; a latent that is constant over ``rows`` becomes 0.

    Example:
        >>> standardize(np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 6.0]]), np.arange(2))
        array([[-1., 0.],
               [ 1., 0.],
               [ 3., 0.]])
    """
    part = codes[rows]
    varies = (part != part[0]).any(axis=0)
    deviation = np.where(varies, part.std(axis=0), 1.0)
    return np.where(varies, (codes - part.mean(axis=0)) / deviation, 0.0)
