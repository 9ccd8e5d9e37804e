"""Parallel transport between neighboring tangent spaces."""

import numpy as np
import torch
from numpy.typing import NDArray

_EDGES = 100_000
"""Edges processed at a time."""

_ROUNDS = 8
"""Iterations of Newton's method."""


def alignments(
    tangents: NDArray[np.float64], edges: NDArray[np.integer]
) -> NDArray[np.float64]:
    r"""Rotations between the tangent spaces of neighboring points.

    For each edge, the orthogonal matrix nearest to :math:`T_j^\top T_i`, the projection
    of directions at ``i`` onto the tangent space at ``j``.

    Args:
        tangents: Orthonormal bases, shape ``(n_points, n_ambient, dimension)``.
        edges: Edges ``(i, j)``, shape ``(n_edges, 2)``.

    Returns:
        Rotations of shape ``(n_edges, dimension, dimension)``.

    Example:
        >>> turned = np.array([[0.6, -0.8], [0.8, 0.6]])
        >>> alignments(np.stack([np.eye(2), turned]), np.array([[0, 1]]))[0].round(6)
        array([[ 0.6,  0.8],
               [-0.8,  0.6]])

    References:
        Pfau et al. (2020), Algorithm 1, step 2; Singer and Wu (2012), Vector Diffusion
        Maps and the Connection Laplacian, section 2.
    """
    dimension = tangents.shape[2]
    rotations = np.empty((len(edges), dimension, dimension))
    for start in range(0, len(edges), _EDGES):
        first, second = edges[start : start + _EDGES].T
        seen = np.swapaxes(tangents[second], 1, 2) @ tangents[first]
        rotations[start : start + _EDGES] = _nearest_orthogonal(seen)
    return rotations


def metric_alignments(
    points: NDArray[np.float64],
    metric: NDArray[np.float64],
    frames: NDArray[np.float64],
    neighbors: NDArray[np.integer],
    edges: NDArray[np.integer],
) -> NDArray[np.float64]:
    r"""Rotations between neighboring points in coordinates with a metric.

    Along a small step :math:`\delta` a vector changes by :math:`-\Gamma(\delta, v)`.
    The Christoffel symbols need the derivatives of the metric, which are fitted to its
    values at the neighbors. The symbols at both ends of an edge are averaged.

    Args:
        points: Coordinates, shape ``(n_points, dimension)``.
        metric: Symmetric, positive definite matrices, shape ``(n_points, dimension,
            dimension)``.
        frames: Bases that are orthonormal in the metric, of the same shape.
        neighbors: Row numbers of the neighbors of each point, at least ``dimension`` of
            them, shape ``(n_points, n_neighbors)``.
        edges: Edges ``(i, j)``, shape ``(n_edges, 2)``.

    Returns:
        Rotations between the frames, shape ``(n_edges, dimension, dimension)``.
    """
    symbols = christoffel_symbols(points, metric, neighbors)
    dimension = points.shape[1]
    rotations = np.empty((len(edges), dimension, dimension))
    for start in range(0, len(edges), _EDGES):
        first, second = edges[start : start + _EDGES].T
        steps = points[second] - points[first]
        mean = (symbols[first] + symbols[second]) / 2
        change = np.einsum("eabc,eb->eac", mean, steps)
        carried = frames[first] - change @ frames[first]
        lowered = metric[second] @ carried
        seen = np.swapaxes(frames[second], 1, 2) @ lowered
        rotations[start : start + _EDGES] = _nearest_orthogonal(seen)
    return rotations


def christoffel_symbols(
    points: NDArray[np.float64],
    metric: NDArray[np.float64],
    neighbors: NDArray[np.integer],
) -> NDArray[np.float64]:
    r"""Christoffel symbols :math:`\Gamma^a_{bc}` of a metric that is known at points.

    Returns:
        Symbols of shape ``(n_points, dimension, dimension, dimension)``, ``a`` first.
    """
    dimension = points.shape[1]
    steps = points[neighbors] - points[:, None]
    changes = (metric[neighbors] - metric[:, None]).reshape(*neighbors.shape, -1)
    # A fit of second degree if there are enough neighbors; the linear part is used.
    rows, columns = np.triu_indices(dimension)
    terms = steps
    if neighbors.shape[1] >= dimension * (dimension + 3) // 2:
        terms = np.concatenate([steps, steps[:, :, rows] * steps[:, :, columns]], 2)
    slopes = (np.linalg.pinv(terms) @ changes)[:, :dimension]
    # slopes[p, c, a, b] is the derivative of g_ab along c.
    slopes = slopes.reshape(len(points), dimension, dimension, dimension)
    lowered = slopes.transpose(0, 2, 1, 3) + slopes.transpose(0, 2, 3, 1) - slopes
    return 0.5 * np.einsum("pad,pdbc->pabc", np.linalg.inv(metric), lowered)


def _nearest_orthogonal(matrices: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the orthogonal polar factor of matrices with norm at most 1.

    Neighboring tangent spaces are nearly the same, so that a few iterations of Newton's
    method suffice. Where it has not converged, singular values are used.
    """
    nearest = torch.from_numpy(np.ascontiguousarray(matrices))
    identity = torch.eye(nearest.shape[2], dtype=nearest.dtype)
    for _ in range(_ROUNDS):
        squares = torch.bmm(nearest.mT, nearest)
        nearest = torch.bmm(nearest, 1.5 * identity - 0.5 * squares)
    errors = torch.bmm(nearest.mT, nearest).sub_(identity).abs().amax(dim=(1, 2))
    found, doubtful = nearest.numpy(), ~(errors < 1e-13).numpy()
    left, _, right = np.linalg.svd(matrices[doubtful])
    found[doubtful] = left @ right
    return found
