"""Graph of the nearest neighbors of points."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors


def nearest_neighbors(
    points: NDArray[np.float64], n_neighbors: int
) -> NDArray[np.int64]:
    """Nearest neighbors of each point, nearest first.

    Args:
        points: Points of shape ``(n_points, n_ambient)``, all different.
        n_neighbors: Number of neighbors, at least 1 and below ``n_points``.

    Returns:
        Row numbers in ``points``, shape ``(n_points, n_neighbors)``.

    Raises:
        ValueError: If points are repeated, because no direction leads from one to the
            other.

    Example:
        >>> nearest_neighbors(np.array([[0.0], [1.0], [3.0]]), 1).ravel()
        array([1, 0, 1])
    """
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    distances, neighbors = search.kneighbors()
    # Distances of close points may be rounding errors: compare the coordinates.
    doubtful = np.flatnonzero(distances[:, 0] <= 1e-6 * (1 + np.abs(points).max()))
    same = (points[doubtful] == points[neighbors[doubtful, 0]]).all(axis=1)
    if same.any():
        n_repeated = len(points) - len(np.unique(points, axis=0))
        raise ValueError(
            f"All points must be different, but {n_repeated:,} repeat another point. "
            "numpy.unique(points, axis=0) keeps one of each."
        )
    return neighbors.astype(np.int64)


def undirected_edges(neighbors: NDArray[np.integer]) -> NDArray[np.int64]:
    """Pairs of points of which at least one is a neighbor of the other.

    Args:
        neighbors: Row numbers of neighbors, shape ``(n_points, n_neighbors)``.

    Returns:
        Pairs of shape ``(n_edges, 2)`` in ascending order, each once, with the smaller
        row number first.

    Example:
        >>> undirected_edges(np.array([[1], [0], [1]]))
        array([[0, 1],
               [1, 2]])
    """
    n_points, width = neighbors.shape
    start, end = np.repeat(np.arange(n_points), width), neighbors.ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    keys = np.unique(low.astype(np.int64) * n_points + high)
    return np.stack([keys // n_points, keys % n_points], axis=1)


def check_connected(n_points: int, edges: NDArray[np.integer], width: int) -> None:
    """Require a connected graph.

    Raises:
        ValueError: If it is not connected, with the sizes of the largest pieces.
    """
    n_pieces, piece = sparse.csgraph.connected_components(
        adjacency(n_points, edges), directed=False
    )
    if n_pieces > 1:
        sizes = np.sort(np.bincount(piece))[::-1]
        shown = ", ".join(f"{size:,}" for size in sizes[:3])
        raise ValueError(
            f"The graph of {width} neighbors per point is not connected: it has "
            f"{n_pieces:,} pieces (the largest of {shown} points). Increase "
            "n_neighbors, or factorize each piece separately."
        )


def adjacency(n_points: int, edges: NDArray[np.integer]) -> sparse.csr_array:
    """Symmetric matrix with a 1 for each edge, ``(n_points, n_points)``."""
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    shape = (n_points, n_points)
    return sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()


def nearest_under_metric(
    points: NDArray[np.float64], metric: NDArray[np.float64], n_neighbors: int
) -> NDArray[np.int64]:
    """Nearest neighbors of each point, in the mean of the metrics at both points.

    They are searched among four times as many neighbors in Euclidean distance.

    Args:
        points: Points of shape ``(n_points, n_ambient)``.
        metric: Metric at each point, shape ``(n_points, n_ambient, n_ambient)``.
        n_neighbors: Number of neighbors, at least 1 and below ``n_points``.

    Returns:
        Row numbers in ``points``, shape ``(n_points, n_neighbors)``.
    """
    wide = nearest_neighbors(points, min(4 * n_neighbors, len(points) - 1))
    steps = points[wide] - points[:, None]
    squares = np.einsum("nja,nab,njb->nj", steps, metric, steps)
    squares += np.einsum("nja,njab,njb->nj", steps, metric[wide], steps)
    order = np.argsort(squares, axis=1, kind="stable")[:, :n_neighbors]
    return np.take_along_axis(wide, order, axis=1)
