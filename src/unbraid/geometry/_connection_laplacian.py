"""Connection Laplacian: how fields of symmetric matrices change along a graph."""

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

_NUMBERS = 8_000_000
"""Numbers of what is between rotations and blocks at a time: 64 MB."""


@cache
def traceless_basis(dimension: int) -> NDArray[np.float64]:
    """Orthonormal basis of the symmetric matrices without trace.

    Args:
        dimension: Rows ``k`` of the matrices, from 1.

    Returns:
        Shape ``(k (k + 1) / 2 - 1, k, k)``.

    Example:
        >>> traceless_basis(2).round(3)
        array([[[ 0.   ,  0.707],
                [ 0.707,  0.   ]],
        <BLANKLINE>
               [[ 0.707,  0.   ],
                [ 0.   , -0.707]]])
    """
    rows, columns = np.triu_indices(dimension, 1)
    n_pairs = len(rows)
    basis = np.zeros((n_pairs + max(dimension - 1, 0), dimension, dimension))
    places = np.arange(n_pairs)
    basis[places, rows, columns] = basis[places, columns, rows] = np.sqrt(0.5)
    for last in range(1, dimension):
        # (1, ..., 1, -last, 0, ...): orthogonal to the identity and to each other.
        diagonal = np.concatenate([np.ones(last), [-last], np.zeros(dimension)])
        diagonal = diagonal[:dimension] / np.sqrt(last * (last + 1))
        basis[n_pairs + last - 1] = np.diag(diagonal)
    basis.setflags(write=False)
    return basis


def conjugation_blocks(rotations: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""What :math:`X \mapsto Q X Q^\top` does in the basis of traceless matrices.

    Args:
        rotations: Orthogonal matrices ``Q``, ``(n, k, k)``.

    Returns:
        Orthogonal matrices ``(n, b, b)`` with :math:`b = k (k + 1) / 2 - 1`.

    Example:
        >>> swap = np.array([[[0.0, 1.0], [1.0, 0.0]]])
        >>> conjugation_blocks(swap)[0].round(6) + 0.0
        array([[ 1.,  0.],
               [ 0., -1.]])
    """
    basis = traceless_basis(rotations.shape[1])
    n, k, size = len(rotations), rotations.shape[1], len(basis)
    # (Q E) for all elements E at once, then <E', Q E Q^T> = <E' Q, Q E>.
    left = rotations.reshape(n * k, k) @ basis.transpose(1, 0, 2).reshape(k, -1)
    left = left.reshape(n, k, size, k).transpose(0, 2, 1, 3).reshape(n, size, k * k)
    right = np.swapaxes(rotations, 1, 2).reshape(n * k, k)
    right = right @ basis.transpose(1, 0, 2).reshape(k, -1)
    right = right.reshape(n, k, size, k).transpose(0, 3, 1, 2).reshape(n, k * k, size)
    return np.ascontiguousarray(np.swapaxes(left @ right, 1, 2))


def connection_laplacian(
    n_points: int, edges: NDArray[np.integer], rotations: NDArray[np.float64]
) -> sparse.bsr_array:
    r"""Second-order graph connection Laplacian on symmetric matrices without trace.

    A field has a matrix :math:`X_i` in the tangent space of each point; the quadratic
    form is :math:`\sum_{(i, j)} \lVert X_j - Q_{ij} X_i Q_{ij}^\top \rVert^2` over the
    edges, so that parallel fields are at 0.

    Args:
        n_points: Points of the graph.
        edges: Shape ``(n_edges, 2)``, each edge ``(i, j)`` once.
        rotations: ``Q`` of each edge, from the tangent space at ``i`` to that at ``j``,
            orthogonal, ``(n_edges, k, k)``.

    Returns:
        Symmetric and positive semi-definite, ``(n_points * b, n_points * b)``, in
        blocks of :math:`b = k (k + 1) / 2 - 1`.

    References:
        Pfau, Higgins, Botev and Racanière (2020), Disentangling by Subspace Diffusion,
        Algorithm 1, step 2. https://arxiv.org/abs/2006.12982
    """
    first, second = edges.T
    places = np.arange(n_points)
    rows = np.concatenate([places, first, second])
    columns = np.concatenate([places, second, first])
    order = np.lexsort((columns, rows))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    size = len(traceless_basis(rotations.shape[1]))
    blocks = np.empty((len(order), size, size))
    degrees = np.bincount(edges.ravel(), minlength=n_points)
    blocks[position[:n_points]] = degrees[:, None, None] * np.eye(size)
    forward = position[n_points : n_points + len(edges)]
    backward = position[n_points + len(edges) :]
    step = max(1, _NUMBERS // max(1, size * rotations.shape[1] ** 2))
    for start in range(0, len(edges), step):
        chunk = slice(start, start + step)
        block = -conjugation_blocks(rotations[chunk])
        blocks[backward[chunk]] = block
        blocks[forward[chunk]] = np.swapaxes(block, 1, 2)
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_points))])
    shape = (n_points * size, n_points * size)
    return sparse.bsr_array((blocks, columns[order], starts), shape=shape)
