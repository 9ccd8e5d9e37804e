"""Intrinsic dimension of a cloud of points."""

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from unbraid.foundation import check_integer, numpy_generator

from ._geomancer_inputs import check_points


def intrinsic_dimension(
    points: NDArray[np.floating],
    *,
    n_neighbors: int = 10,
    max_points: int = 5_000,
    seed: int = 0,
) -> float:
    r"""Maximum-likelihood estimate of the dimension of the manifold that points lie on.

    In ``d`` dimensions, the number of neighbors within a distance grows with its
    ``d``-th power. The estimate is the reciprocal of the mean of
    :math:`\log(r_m / r_j)` over points and their nearest neighbors ``j`` before the
    last one, ``m``.

    Args:
        points: Points of shape ``(n_points, n_ambient)``, all different.
        n_neighbors: Number of neighbors per point, at least 2. With more neighbors, the
            estimate is less noisy, but more affected by the curvature of the manifold.
        max_points: Largest number of points whose neighbors are searched; of more
            points, a random subset of that size is used.
        seed: Seed of the random subset.

    Returns:
        A positive number, which the caller may round.

    Example:
        >>> square = np.random.default_rng(0).uniform(size=(2000, 2))
        >>> round(intrinsic_dimension(square @ np.array([[1.0, 2, 3], [0, 1, 1]])))
        2

    References:
        Levina and Bickel (2004), Maximum Likelihood Estimation of Intrinsic Dimension;
        MacKay and Ghahramani (2005), Comments on it: average the reciprocals.
    """
    points = check_points(points)
    check_integer("n_neighbors", n_neighbors, least=2)
    if len(points) < 3:
        raise ValueError(
            f"intrinsic_dimension needs at least three points, got {len(points)}."
        )
    n_neighbors = min(n_neighbors, len(points) - 1)
    rows = np.arange(len(points))
    if len(points) > max_points:
        generator = numpy_generator(seed, "intrinsic dimension")
        rows = generator.choice(rows, max_points, replace=False)
    search = NearestNeighbors(n_neighbors=n_neighbors + 1).fit(points)
    # The nearest one is the point itself.
    distances = search.kneighbors(points[rows])[0][:, 1:]
    if not (distances[:, 0] > 0).all():
        raise ValueError(
            "All points must be different, but some are repeated. "
            "numpy.unique(points, axis=0) keeps one of each."
        )
    mean = float(np.log(distances[:, -1:] / distances[:, :-1]).mean())
    if mean == 0:
        raise ValueError(
            f"The dimension cannot be estimated, because the {n_neighbors} nearest "
            "neighbors of every point are at the same distance from it. Set the "
            "dimension explicitly."
        )
    return 1 / mean
