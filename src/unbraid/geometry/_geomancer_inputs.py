"""Checks of the inputs of Geomancer."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import (
    check_finite,
    check_integer,
    check_not_empty,
    check_number,
    check_shape,
)

_LARGEST = 1e100
"""Largest spread of coordinates; squares of larger ones might overflow."""


def check_points(points: ArrayLike) -> NDArray[np.float64]:
    """Check points and return them in double precision.

    Args:
        points: Points of shape ``(n_points, n_coordinates)``.
    """
    try:
        array = np.asarray(points)
    except ValueError as error:
        raise ValueError(
            "All points must have the same number of coordinates."
        ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"points must be numeric, got dtype {array.dtype}.")
    check_shape("points", array, ("n_points", "n_coordinates"))
    check_not_empty("points", array)
    check_finite("points", array)
    array = array.astype(np.float64)
    # Halved first, because the difference of two finite numbers may overflow.
    spread = 2 * float((array.max(axis=0) / 2 - array.min(axis=0) / 2).max())
    if spread > _LARGEST or 0 < spread < 1 / _LARGEST:
        raise ValueError(
            f"The range of each coordinate must be between {1 / _LARGEST:.0e} and "
            f"{_LARGEST:.0e}, got {spread:.1e}. Rescale the points."
        )
    return array


def check_options(
    n_eigenvectors: object, n_tangent_neighbors: object, gamma: object
) -> None:
    """Check the options of Geomancer that do not depend on the points."""
    # A gap needs two eigenvalues.
    check_integer("n_eigenvectors", n_eigenvectors, least=2)
    if n_tangent_neighbors is not None:
        check_integer("n_tangent_neighbors", n_tangent_neighbors, least=1)
    if gamma is not None:
        check_number("gamma", gamma, least=0.0)


def default_neighbors(n_points: int, dimension: int, n_neighbors: int | None) -> int:
    """Return the number of neighbors per point, given or by default, once checked."""
    width = max(8, 2 * dimension) if n_neighbors is None else n_neighbors
    check_integer("n_neighbors", width, least=1)
    if n_points <= width:
        raise ValueError(
            f"There must be more points than neighbors, got {n_points} points for "
            f"{width} neighbors. Use more points, or a smaller n_neighbors."
        )
    return int(width)


def check_neighbors(neighbors: ArrayLike, n_points: int) -> NDArray[np.int64]:
    """Check row numbers of neighbors and return them as 64-bit integers."""
    array = np.asarray(neighbors)
    check_shape("neighbors", array, (n_points, "n_neighbors"))
    check_not_empty("neighbors", array)
    if array.dtype.kind not in "iu":
        raise ValueError(f"neighbors must be integers, got dtype {array.dtype}.")
    if array.min() < 0 or array.max() >= n_points:
        raise ValueError(
            f"neighbors must be between 0 and {n_points - 1}, got {array.min()} to "
            f"{array.max()}."
        )
    is_self = (array == np.arange(n_points)[:, None]).any(axis=1)
    if is_self.any():
        raise ValueError(
            "A point must not be its own neighbor, but "
            f"neighbors[{int(is_self.argmax())}] contains {int(is_self.argmax())}."
        )
    return array.astype(np.int64)


def check_tangents(
    tangents: ArrayLike, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Check orthonormal bases at each point and return them in double precision."""
    array = np.asarray(tangents, np.float64)
    check_shape("tangents", array, (*points.shape, "dimension"))
    products = np.swapaxes(array, 1, 2) @ array
    if not np.allclose(products, np.eye(array.shape[2]), atol=1e-4):
        raise ValueError(
            "The columns of tangents must be orthonormal. numpy.linalg.qr makes them "
            "orthonormal."
        )
    return array


def check_metric(
    metric: ArrayLike, points: NDArray[np.float64], tangents: ArrayLike | None
) -> NDArray[np.float64]:
    """Check one metric, or one per point, and return it in double precision."""
    array = np.asarray(metric, np.float64)
    n_points, n_ambient = points.shape
    shapes = ((n_ambient, n_ambient), (n_points, n_ambient, n_ambient))
    if array.shape not in shapes:
        raise ValueError(
            f"metric must have shape {shapes[0]} or {shapes[1]}, got {array.shape}."
        )
    if tangents is not None:
        raise ValueError(
            "tangents and metric cannot be given together: tangents are directions in "
            "Euclidean space."
        )
    is_symmetric = np.allclose(array, np.swapaxes(array, -1, -2))
    if not (is_symmetric and (np.linalg.eigvalsh(array) > 0).all()):
        raise ValueError("metric must be symmetric and positive definite.")
    return array
