"""Intrinsic dimension: how many directions a cloud of points has, locally."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from unbraid.foundation import numpy_generator

from ._geomancer_inputs import check_points


def intrinsic_dimension(
    points: NDArray[np.floating],
    *,
    n_neighbors: int = 10,
    max_points: int = 5_000,
    seed: int = 0,
) -> float:
    r"""Maximum-likelihood estimate of the dimension that points fill.

    In ``d`` dimensions, the number of neighbors within a distance grows with its
    ``d``-th power; the estimate is the reciprocal of the mean of
    :math:`\log(r_m / r_j)` over points and their nearest neighbors ``j`` before the
    last one, ``m``.

    Args:
        points: No two equal, ``(n_points, n_ambient)``.
        n_neighbors: From 2. More are less noisy, but see the bends of the manifold.
        max_points: Of more points, so many random ones are looked at, among all.
        seed: Of which ones.

    Returns:
        Over 0, to be rounded.

    Example:
        >>> square = np.random.default_rng(0).uniform(size=(2000, 2))
        >>> round(intrinsic_dimension(square @ np.array([[1.0, 2, 3], [0, 1, 1]])))
        2

    References:
        Levina and Bickel (2004), Maximum Likelihood Estimation of Intrinsic Dimension;
        MacKay and Ghahramani (2005), Comments on it: average the reciprocals.
    """
    points = check_points(points, "intrinsic_dimension")
    n_neighbors = min(n_neighbors, len(points) - 1)
    if n_neighbors < 2:
        raise ValueError(
            "intrinsic_dimension: expected two neighbors and three points or more, "
            f"got {n_neighbors} and {len(points)}."
        )
    rows = np.arange(len(points))
    if len(points) > max_points:
        generator = numpy_generator(seed, "intrinsic dimension")
        rows = generator.choice(rows, max_points, replace=False)
    search = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(points)
    # The nearest one is the point itself.
    distances = search.kneighbors(points[rows])[0][:, 1:]
    if not (distances[:, 0] > 0).all():
        raise ValueError(
            "intrinsic_dimension: expected points that all differ, got some that "
            "repeat. Keep one of each, as numpy.unique(points, axis=0) does."
        )
    mean = float(np.log(distances[:, -1:] / distances[:, :-1]).mean())
    if mean == 0:
        raise ValueError(
            "intrinsic_dimension: expected neighbors at different distances, got "
            f"{n_neighbors} at the same from every point. Give the dimension."
        )
    return 1 / mean
