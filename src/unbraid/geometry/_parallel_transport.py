"""Parallel transport between neighboring tangent spaces."""

import numpy as np
import torch
from numpy.typing import NDArray

_EDGES = 100_000
_ROUNDS = 8


def alignments(
    tangents: NDArray[np.float64], edges: NDArray[np.integer]
) -> NDArray[np.float64]:
    r"""The rotation that takes each tangent space to a neighboring one.

    The orthogonal matrix nearest to :math:`T_j^\top T_i`, which is how directions at
    ``i`` look from ``j``.

    Args:
        tangents: Orthonormal bases, ``(n_points, n_ambient, dimension)``.
        edges: Pairs ``(i, j)``, ``(n_edges, 2)``.

    Returns:
        Shape ``(n_edges, dimension, dimension)``.

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
    r"""Transport in coordinates whose lengths and angles a metric gives at each point.

    Along a small step :math:`\delta` a vector changes by :math:`-\Gamma(\delta, v)`.
    The Christoffel symbols need the derivatives of the metric, which are fitted to its
    values at the neighbors; those of both ends are averaged.

    Args:
        points: Coordinates, ``(n_points, dimension)``.
        metric: Symmetric and positive definite, ``(n_points, dimension, dimension)``.
        frames: Bases that are orthonormal in the metric, same shape.
        neighbors: Of each point, at least ``dimension``, ``(n_points, n_neighbors)``.
        edges: Pairs ``(i, j)``, ``(n_edges, 2)``.

    Returns:
        Rotations between the frames, ``(n_edges, dimension, dimension)``.
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
    r"""Christoffel symbols :math:`\Gamma^a_{bc}`, from a metric known at points.

    Returns:
        Shape ``(n_points, dimension, dimension, dimension)``, ``a`` first.
    """
    dimension = points.shape[1]
    steps = points[neighbors] - points[:, None]
    changes = (metric[neighbors] - metric[:, None]).reshape(*neighbors.shape, -1)
    # Fitted up to second degree where the neighbors suffice, and the linear part kept.
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
    """Orthogonal factor of the polar decomposition, of contractions.

    Neighboring tangent spaces are nearly the same, so that a few rounds of Newton's
    method do; the others are left to singular values.
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
