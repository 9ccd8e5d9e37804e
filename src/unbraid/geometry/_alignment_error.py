"""Alignment error: angle between estimated and true subspaces."""

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from numpy.typing import NDArray


def alignment_error(
    found: Sequence[NDArray[np.floating]], true: Sequence[NDArray[np.floating]]
) -> NDArray[np.float64]:
    """Mean angle between estimated and true subspaces at each point, in radians.

    The angle between two subspaces is their largest principal angle, or 90 degrees if
    their dimensions differ. At each point, estimated and true subspaces are paired so
    that the mean angle is smallest.

    Args:
        found: Estimated subspaces, one array of orthonormal bases each, of shape
            ``(n_points, n_ambient, dimension)``.
        true: True subspaces, in the same form.

    Returns:
        Angles of shape ``(n_points,)``, at most pi / 2. All of them are pi / 2 if the
        numbers of subspaces differ.

    Example:
        >>> axes = np.eye(3)[None]
        >>> tilted = np.array([[[1.0, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]]])
        >>> alignment_error([axes[:, :, 1:], axes[:, :, :1]], [tilted[:, :, :1],
        ...     tilted[:, :, 1:]]).round(6)
        array([0.])
        >>> alignment_error([axes[:, :, :2], axes[:, :, 2:]], [tilted[:, :, :2],
        ...     tilted[:, :, 2:]]).round(4)
        array([0.6435])

    References:
        Pfau et al. (2020), section 5.1.
    """
    shapes = {np.shape(basis)[:2] for basis in (*found, *true)}
    if len(shapes) != 1 or any(np.ndim(basis) != 3 for basis in (*found, *true)):
        raise ValueError(
            "found and true must contain bases of shape (n_points, n_ambient, "
            "dimension) with the same first two axes, got "
            f"{', '.join(map(str, sorted(shapes)))}."
        )
    n_points = len(true[0])
    if len(found) != len(true):
        return np.full(n_points, np.pi / 2)
    angles = np.full((len(found), len(true), n_points), np.pi / 2)
    for row, first in enumerate(found):
        for column, second in enumerate(true):
            if first.shape == second.shape:
                angles[row, column] = _largest_angle(first, second)
    rows = np.arange(len(found))
    means = [angles[rows, list(order)].mean(axis=0) for order in permutations(rows)]
    return np.min(means, axis=0)


def _largest_angle(
    first: NDArray[np.floating], second: NDArray[np.floating]
) -> NDArray[np.float64]:
    products = np.swapaxes(first, 1, 2) @ second
    cosines = np.linalg.svd(products, compute_uv=False)[:, -1]
    # Small angles are computed from their sines: cosines near 1 lose all precision.
    apart = second - first @ products
    sines = np.linalg.svd(apart, compute_uv=False)[:, 0]
    return np.arctan2(np.minimum(sines, 1.0), np.minimum(cosines, 1.0))
