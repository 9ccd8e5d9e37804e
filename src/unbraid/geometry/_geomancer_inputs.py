"""Inputs of Geomancer, checked: what is wrong is said in one sentence."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_LARGEST = 1e100
"""Spread of coordinates whose squares are still numbers."""


def check_points(points: ArrayLike, who: str = "Geomancer") -> NDArray[np.float64]:
    """Points as numbers, one row each.

    Args:
        points: Shape ``(n_points, n_coordinates)``.
        who: Complains.
    """
    try:
        array = np.asarray(points)
    except ValueError as error:
        raise ValueError(
            f"{who}: expected points with as many coordinates each, got others."
        ) from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{who}: expected points that are numbers, got {array.dtype}.")
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(
            f"{who}: expected points (n_points, n_coordinates), one row each, got "
            f"shape {array.shape}."
        )
    array = array.astype(np.float64)
    wrong = ~np.isfinite(array).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"{who}: expected finite numbers, got NaN or infinity in "
            f"{wrong.sum():,} of {len(array):,} points, the first in row "
            f"{int(wrong.argmax())}."
        )
    # Halves, since the difference of two finite numbers may be none.
    spread = 2 * float((array.max(axis=0) / 2 - array.min(axis=0) / 2).max())
    if spread > _LARGEST or 0 < spread < 1 / _LARGEST:
        raise ValueError(
            f"{who}: expected coordinates that spread over {1 / _LARGEST:.0e} to "
            f"{_LARGEST:.0e}, got {spread:.1e}. Rescale the points."
        )
    return array


def check_options(
    n_eigenvectors: object, n_tangent_neighbors: object, gamma: object
) -> None:
    """Complain about options that are no numbers or out of range."""
    if not is_integer(n_eigenvectors, 2):
        raise ValueError(
            "Geomancer: expected n_eigenvectors to be an integer from 2, to see a gap, "
            f"got {n_eigenvectors!r}."
        )
    if n_tangent_neighbors is not None and not is_integer(n_tangent_neighbors, 1):
        raise ValueError(
            "Geomancer: expected n_tangent_neighbors to be an integer from 1, got "
            f"{n_tangent_neighbors!r}."
        )
    # Written so that NaN fails it.
    if gamma is not None and not (isinstance(gamma, int | float) and gamma >= 0):
        raise ValueError(f"Geomancer: expected gamma to be from 0, got {gamma!r}.")


def is_integer(value: object, least: int) -> bool:
    """Whether a value is a whole number, of Python or numpy, and large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return bool(value >= least)


def default_neighbors(n_points: int, dimension: int, wanted: int | None) -> int:
    """How many neighbors make the graph, with enough points for them."""
    width = max(8, 2 * dimension) if wanted is None else wanted
    if not is_integer(width, 1):
        raise ValueError(
            f"Geomancer: expected n_neighbors to be an integer from 1, got {wanted!r}."
        )
    if n_points <= width:
        raise ValueError(
            f"Geomancer: expected more points than neighbors, got {n_points} points "
            f"for {width} neighbors. Give more points, or a lower n_neighbors."
        )
    return int(width)


def check_neighbors(neighbors: ArrayLike, n_points: int) -> NDArray[np.int64]:
    """Neighbors as rows of the points, none of them the point itself."""
    array = np.asarray(neighbors)
    if (
        array.ndim != 2
        or len(array) != n_points
        or array.shape[1] < 1
        or array.dtype.kind not in "iu"
    ):
        raise ValueError(
            f"Geomancer: expected neighbors ({n_points}, n_neighbors), whole "
            f"numbers, got shape {array.shape} of {array.dtype}."
        )
    if array.min() < 0 or array.max() >= n_points:
        raise ValueError(
            f"Geomancer: expected neighbors from 0 to {n_points - 1}, got "
            f"{array.min()} to {array.max()}."
        )
    if (array == np.arange(n_points)[:, None]).any():
        raise ValueError(
            "Geomancer: expected neighbors other than the point itself, got some that "
            "are it."
        )
    return array.astype(np.int64)


def check_tangents(
    tangents: ArrayLike, points: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Orthonormal bases at each point."""
    array = np.asarray(tangents, np.float64)
    n_points, n_ambient = points.shape
    if array.ndim != 3 or array.shape[:2] != (n_points, n_ambient):
        raise ValueError(
            f"Geomancer: expected tangents ({n_points}, {n_ambient}, dimension), got "
            f"shape {array.shape}."
        )
    products = np.swapaxes(array, 1, 2) @ array
    if not np.allclose(products, np.eye(array.shape[2]), atol=1e-4):
        raise ValueError(
            "Geomancer: expected tangents with orthonormal columns, got others. "
            "numpy.linalg.qr makes them so."
        )
    return array


def check_metric(
    metric: ArrayLike, points: NDArray[np.float64], tangents: ArrayLike | None
) -> NDArray[np.float64]:
    """One matrix, or one for each point; positive definite."""
    array = np.asarray(metric, np.float64)
    n_points, n_ambient = points.shape
    shapes = ((n_ambient, n_ambient), (n_points, n_ambient, n_ambient))
    if array.shape not in shapes:
        raise ValueError(
            f"Geomancer: expected a metric of shape {shapes[0]} or {shapes[1]}, got "
            f"{array.shape}."
        )
    if tangents is not None:
        raise ValueError(
            "Geomancer: expected tangents or a metric, got both. Tangents are "
            "directions in Euclidean space."
        )
    is_symmetric = np.allclose(array, np.swapaxes(array, -1, -2))
    if not (is_symmetric and (np.linalg.eigvalsh(array) > 0).all()):
        raise ValueError(
            "Geomancer: expected a metric that is symmetric and positive definite, got "
            "one that is not."
        )
    return array
