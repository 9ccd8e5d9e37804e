"""Connection Laplacian: how fields of symmetric matrices change along a graph."""

from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import sparse

_NUMBERS = 8_000_000
"""Numbers in intermediate arrays per chunk of edges: 64 MB."""


@cache
def traceless_basis(dimension: int) -> NDArray[np.float64]:
    """Orthonormal basis of the symmetric matrices with trace 0.

    Args:
        dimension: Number ``k`` of rows and columns of the matrices, at least 1.

    Returns:
        Basis matrices, shape ``(k (k + 1) / 2 - 1, k, k)``.

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
    pairs = np.arange(n_pairs)
    basis[pairs, rows, columns] = basis[pairs, columns, rows] = np.sqrt(0.5)
    for number, diagonal in enumerate(_traceless_diagonals(dimension)):
        basis[n_pairs + number] = np.diag(diagonal)
    basis.setflags(write=False)
    return basis


def _traceless_diagonals(dimension: int) -> NDArray[np.float64]:
    """Return diagonals (1, ..., 1, -l, 0, ...), orthonormal and with sum 0."""
    rows = np.tri(max(dimension - 1, 0), dimension)
    below = np.arange(1.0, dimension)
    rows[np.arange(len(rows)), np.arange(1, dimension)] = -below
    return rows / np.sqrt(below * (below + 1))[:, None]


def conjugation_blocks(rotations: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Matrix of :math:`X \mapsto Q X Q^\top` in the basis of traceless matrices.

    Args:
        rotations: Orthogonal matrices ``Q``, shape ``(n, k, k)``.

    Returns:
        Orthogonal matrices of shape ``(n, b, b)`` with :math:`b = k (k + 1) / 2 - 1`.

    Example:
        >>> swap = np.array([[[0.0, 1.0], [1.0, 0.0]]])
        >>> conjugation_blocks(swap)[0].round(6) + 0.0
        array([[ 1.,  0.],
               [ 0., -1.]])
    """
    turns, k = torch.from_numpy(rotations), rotations.shape[1]
    rows, columns = torch.from_numpy(np.stack(np.triu_indices(k, 1)))
    n_pairs = len(rows)
    size = n_pairs + k - 1
    diagonals = torch.from_numpy(_traceless_diagonals(k))
    blocks = torch.empty(len(turns), size, size, dtype=turns.dtype)
    # Basis matrices have at most two entries off the diagonal, so that products of
    # entries of Q suffice.
    upper, lower = turns[:, rows], turns[:, columns]
    off = torch.mul(upper[..., rows], lower[..., columns])
    blocks[:, :n_pairs, :n_pairs] = off.addcmul_(upper[..., columns], lower[..., rows])
    blocks[:, :n_pairs, n_pairs:] = (upper * lower) @ (np.sqrt(2) * diagonals.T)
    across = turns[..., rows] * turns[..., columns]
    blocks[:, n_pairs:, :n_pairs] = (np.sqrt(2) * diagonals) @ across
    blocks[:, n_pairs:, n_pairs:] = diagonals @ turns.square() @ diagonals.T
    return blocks.numpy()


def connection_laplacian(
    n_points: int,
    edges: NDArray[np.integer],
    rotations: NDArray[np.float64],
    *,
    single: bool = False,
) -> sparse.bsr_array:
    r"""Second-order graph connection Laplacian on symmetric matrices with trace 0.

    A field assigns a matrix :math:`X_i` in the tangent space to each point. Its
    quadratic form is :math:`\sum_{(i, j)} \lVert X_j - Q_{ij} X_i Q_{ij}^\top \rVert^2`
    over the edges, which is 0 for parallel fields.

    Args:
        n_points: Number of points of the graph.
        edges: Edges ``(i, j)``, each once, shape ``(n_edges, 2)``.
        rotations: Orthogonal matrix ``Q`` of each edge, from the tangent space at ``i``
            to that at ``j``, shape ``(n_edges, k, k)``.
        single: Store the matrix in single precision, in half of the memory.

    Returns:
        Symmetric, positive semi-definite matrix ``(n_points * b, n_points * b)`` in
        blocks of size :math:`b = k (k + 1) / 2 - 1`.

    References:
        Pfau, Higgins, Botev and Racanière (2020), Disentangling by Subspace Diffusion,
        Algorithm 1, step 2. https://arxiv.org/abs/2006.12982
    """
    first, second = edges.T
    points = np.arange(n_points)
    rows = np.concatenate([points, first, second])
    columns = np.concatenate([points, second, first])
    order = np.lexsort((columns, rows))
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    size = len(traceless_basis(rotations.shape[1]))
    kind = np.float32 if single else np.float64
    blocks = np.empty((len(order), size, size), kind)
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
