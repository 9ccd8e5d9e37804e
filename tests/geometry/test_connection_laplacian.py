import numpy as np
import pytest
from scipy import sparse

from unbraid.geometry import (
    bottom_eigenpairs,
    connection_laplacian,
    product_manifold,
    tangent_spaces,
    traceless_basis,
)
from unbraid.geometry._neighbor_graph import nearest_neighbors, undirected_edges
from unbraid.geometry._parallel_transport import alignments


def literal_projection(k):
    """Pi_sym Pi_tr: columns span the symmetric matrices without trace, as vectors."""
    columns = []
    for i in range(k):
        for j in range(i):
            matrix = np.zeros((k, k))
            matrix[i, j] = matrix[j, i] = 1
            columns.append(matrix.ravel() / np.sqrt(2))
    # Any orthonormal diagonals orthogonal to the identity, here by Gram-Schmidt.
    diagonals = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    columns += [np.diag(diagonal).ravel() for diagonal in diagonals.T]
    return np.array(columns).T


def literal_laplacian(points, tangents, graph):
    """Algorithm 1 of Pfau et al. (2020), step 2, as dense matrices, edge by edge."""
    n, k = len(points), tangents.shape[2]
    projection = literal_projection(k)
    size = projection.shape[1]
    dense = np.zeros((n, size, n, size))
    for i in range(n):
        dense[i, :, i] = graph[i].sum() * np.eye(size)
        for j in np.flatnonzero(graph[i]):
            left, _, right = np.linalg.svd(tangents[i].T @ tangents[j])
            rotation = left @ right
            # Row-major vectors: vec(Q X Q') is (Q kron Q) vec(X).
            block = projection.T @ np.kron(rotation, rotation) @ projection
            dense[i, :, j] = -block
    return dense.reshape(n * size, n * size), projection


@pytest.mark.parametrize("factors", ["S2xS2", "S2xS1", "T2"])
def test_operator_and_spectrum_are_those_of_the_dense_construction(factors):
    sample = product_manifold(factors, 60, rotated=True)
    k = sample.dimension
    squares = np.square(sample.points[:, None] - sample.points).sum(axis=2)
    nearest = np.argsort(squares, axis=1)[:, 1:9]
    graph = np.zeros((60, 60), bool)
    graph[np.arange(60)[:, None], nearest] = True
    graph |= graph.T

    neighbors = nearest_neighbors(sample.points, 8)
    edges = undirected_edges(neighbors)
    assert (np.argwhere(np.triu(graph)) == edges).all()
    tangents = tangent_spaces(sample.points, neighbors, k, curved=False)
    ours = connection_laplacian(60, edges, alignments(tangents, edges))
    dense, projection = literal_laplacian(sample.points, tangents, graph)
    # The two bases of matrices without trace differ by a rotation.
    turn = traceless_basis(k).reshape(-1, k * k) @ projection
    turns = np.kron(np.eye(60), turn)
    assert np.abs(ours.toarray() - turns @ dense @ turns.T).max() < 1e-8
    expected = np.linalg.eigvalsh(dense)[:10]
    assert bottom_eigenpairs(ours, 10)[0] == pytest.approx(expected, abs=1e-8)


def test_the_laplacian_is_symmetric_and_its_form_is_a_sum_over_edges():
    generator = np.random.default_rng(0)
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3]])
    rotations = np.linalg.qr(generator.normal(size=(4, 3, 3)))[0]
    matrix = connection_laplacian(4, edges, rotations)
    assert np.abs(matrix - matrix.T).max() < 1e-12
    vector = generator.normal(size=(4, 5))
    fields = np.einsum("na,aij->nij", vector, traceless_basis(3))
    expected = sum(
        np.square(fields[j] - rotation @ fields[i] @ rotation.T).sum()
        for (i, j), rotation in zip(edges, rotations, strict=True)
    )
    assert vector.ravel() @ (matrix @ vector.ravel()) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 5])
def test_the_basis_is_orthonormal_symmetric_and_without_trace(k):
    basis = traceless_basis(k)
    assert len(basis) == k * (k + 1) // 2 - 1
    assert np.einsum("aij,bij->ab", basis, basis) == pytest.approx(np.eye(len(basis)))
    assert (basis == np.swapaxes(basis, 1, 2)).all()
    assert np.abs(np.einsum("aii->a", basis)).max(initial=0) < 1e-15


def ring(n):
    """Laplacian of a cycle: eigenvalues 2 - 2 cos(2 pi j / n)."""
    matrix = sparse.diags_array(np.full(n, 2.0)) - sparse.diags_array(
        [np.ones(n - 1), np.ones(n - 1), [1.0], [1.0]], offsets=[1, -1, n - 1, 1 - n]
    )
    # Chords make the spectrum less extreme than that of a long ring alone.
    return sparse.kron(matrix, sparse.eye_array(40)) + sparse.kron(
        sparse.eye_array(n), sparse.diags_array(np.arange(40) * 0.5)
    )


def test_the_filtered_iteration_finds_known_eigenvalues():
    matrix = ring(60).tobsr((40, 40))
    values, vectors = bottom_eigenpairs(matrix, 8, tolerance=1e-10)
    levels = 2 - 2 * np.cos(2 * np.pi * np.arange(60) / 60)
    expected = np.sort((levels[:, None] + np.arange(40) * 0.5).ravel())[:8]
    assert values == pytest.approx(expected, abs=1e-7)
    assert np.abs(matrix @ vectors - vectors * values).max() < 1e-4
    assert vectors.T @ vectors == pytest.approx(np.eye(8), abs=1e-9)


def test_without_mkl_the_eigenvalues_are_the_same(monkeypatch):
    import torch

    matrix = ring(60).tobsr((40, 40))
    expected = bottom_eigenpairs(matrix, 4)[0]
    monkeypatch.setattr(torch.backends.mkl, "is_available", lambda: False)
    assert bottom_eigenpairs(matrix, 4)[0] == pytest.approx(expected, abs=1e-9)


def test_single_precision_is_the_same_matrix_in_half_of_the_memory():
    edges = np.array([[0, 1], [1, 2], [0, 2]])
    rotations = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 4, 4)))[0]
    double = connection_laplacian(3, edges, rotations)
    single = connection_laplacian(3, edges, rotations, single=True)
    assert single.data.nbytes == double.data.nbytes // 2
    assert np.abs(single.toarray() - double.toarray()).max() < 1e-6
