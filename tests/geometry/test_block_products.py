import numpy as np
import pytest
import torch
from scipy import sparse

from unbraid.geometry import bottom_eigenpairs
from unbraid.geometry._block_products import BlockProducts, exact_product


@pytest.fixture(scope="module")
def matrix():
    """Symmetric, with rows of 1 to 9 blocks of 3 by 3."""
    generator = np.random.default_rng(0)
    places = np.triu(generator.random((40, 40)) < 0.1, 1)
    dense = np.kron(places, np.ones((3, 3))) * generator.normal(size=(120, 120))
    dense += dense.T + 9 * np.eye(120)
    return sparse.csr_array(dense).tobsr(blocksize=(3, 3))


def test_products_are_those_of_the_matrix(matrix):
    products = BlockProducts(matrix, 4)
    counts = np.diff(matrix.indptr)
    assert len(np.unique(counts)) > 3
    vectors = torch.from_numpy(
        np.random.default_rng(1).normal(size=(*products.shape, 4)).astype(np.float32)
    )
    images = products.in_matrix_order(products @ vectors)
    expected = matrix @ products.in_matrix_order(vectors)
    assert np.abs(images - expected).max() < 1e-5


def test_a_product_is_added_shifted_and_scaled(matrix):
    products = BlockProducts(matrix, 2)
    generator = np.random.default_rng(1)
    vectors, target = (
        torch.from_numpy(generator.normal(size=(*products.shape, 2)).astype(np.float32))
        for _ in range(2)
    )
    before, given = map(products.in_matrix_order, (target, vectors))
    products.add_to(target, vectors, keep=0.5, scale=2.0, shift=3.0)
    expected = 0.5 * before + 2 * (matrix @ given - 3 * given)
    assert np.abs(products.in_matrix_order(target) - expected).max() < 1e-4


def test_what_a_fresh_target_holds_is_not_looked_at(matrix):
    products = BlockProducts(matrix, 1)
    vectors = torch.ones(*products.shape, 1)
    target = torch.full_like(vectors, torch.nan)
    assert products.add_to(target, vectors).isfinite().all()


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_exact_products_are_in_double_precision(matrix, kind):
    stored = matrix.astype(kind)
    vectors = np.random.default_rng(1).normal(size=(120, 5))
    expected = stored.toarray().astype(np.float64) @ vectors
    assert np.abs(exact_product(stored, vectors) - expected).max() < 1e-12


def test_eigenvalues_are_exact_beyond_single_precision():
    # A torus of 40 by 50 points, whose lowest eigenvalue is known.
    rings = [
        sparse.csr_array(
            2 * np.eye(n) - np.roll(np.eye(n), 1, 0) - np.roll(np.eye(n), 1, 1)
        )
        for n in (40, 50)
    ]
    grid = sparse.kron(rings[0], np.eye(50)) + sparse.kron(np.eye(40), rings[1])
    shifted = sparse.csr_array(grid + 1e-3 * np.eye(2000)).tobsr(blocksize=(2, 2))
    values, vectors = bottom_eigenpairs(shifted, 3, tolerance=1e-4)
    assert values[0] == pytest.approx(1e-3, abs=1e-9)
    assert np.abs(np.abs(vectors[:, 0]) - 2000**-0.5).max() < 1e-4
