"""Lowest eigenvalues of a large sparse matrix, many products at a time."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse

from unbraid.foundation import numpy_generator

from ._block_products import BlockProducts, exact_product

_DENSE = 1500
"""Rows up to which the whole spectrum is computed, exactly."""

_LEAST_DEGREE = 20
"""Products between two looks at the subspace, at the least."""

_DEGREE = 2.5
"""The same, times the root of the ratio of the largest to the wanted eigenvalues."""

_SPARE = 6
"""Vectors beside those wanted, which separate them from the rest."""

_MOST_SWEEPS = 60

_LEAST_CUT = 1e-3
"""Share of the largest eigenvalue above which a polynomial begins to be small."""

_ZERO = 1e-5
"""Share of the largest eigenvalue below which all are as good as 0."""

_ANGLE = 0.02
"""Radians within which vectors below a gap are found."""

_GAP = 0.3
"""Relative gap above which there are vectors that can be told from the others."""


def bottom_eigenpairs(
    matrix: sparse.bsr_array,
    n_pairs: int,
    *,
    tolerance: float = 1.5e-2,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest eigenvalues of a symmetric positive semi-definite matrix.

    A few random vectors are multiplied by a polynomial of the matrix that is large on
    the bottom of the spectrum and small on the rest, and the problem is solved in the
    space they span; again, until nothing changes. Only the last of these problems is
    set up in double precision. No factorization is needed, which for a graph in more
    than two dimensions would fill up, and the matrix is read once for all vectors,
    where a Lanczos method reads it once for each.

    Args:
        matrix: Symmetric, ``(n, n)``.
        n_pairs: How many, from 1 and below ``n``.
        tolerance: Relative change of the eigenvalues at which to stop, if vectors below
            a gap are within 0.02 rad by then.
        seed: Of the vectors to begin with.

    Returns:
        Eigenvalues, ascending, ``(n_pairs,)``, and eigenvectors, ``(n, n_pairs)``.

    Example:
        >>> path = sparse.diags_array([1.0, 2.0, 2.0, 1.0]) - sparse.diags_array(
        ...     [np.ones(3), np.ones(3)], offsets=[1, -1]
        ... )
        >>> bottom_eigenpairs(path.tobsr(), 2)[0].round(4) + 0.0
        array([0.    , 0.5858])

    References:
        Zhou, Saad, Tiago and Chelikowsky (2006), Self-consistent-field calculations
        using Chebyshev-filtered subspace iteration, section 2.
    """
    n_rows = (len(matrix.indptr) - 1) * matrix.blocksize[0]
    if n_rows <= max(_DENSE, 4 * (n_pairs + _SPARE)):
        values, vectors = linalg.eigh(
            matrix.toarray(), subset_by_index=(0, n_pairs - 1)
        )
        return np.maximum(values, 0.0), vectors
    width = n_pairs + _SPARE
    products = BlockProducts(matrix, width)
    generator = numpy_generator(seed, "eigenvectors")
    top = _upper_bound(products, generator)
    start = generator.standard_normal((*products.shape, width), dtype=np.float32)
    space, cut, before = torch.from_numpy(start), 0.1 * top, np.zeros(n_pairs)
    for _ in range(_MOST_SWEEPS):
        space = _filtered(products, space, cut, top)
        values, space, residuals = _rayleigh_ritz(products, space)
        # The next filter spares what lies below the highest value that was found.
        found, cut = values[:n_pairs], max(values[-1], _LEAST_CUT * top)
        if _is_settled(found, before, residuals[:n_pairs], tolerance, _ZERO * top):
            break
        before = found
    return _exact_pairs(matrix, products.in_matrix_order(space), n_pairs)


def _is_settled(
    values: NDArray[np.float64],
    before: NDArray[np.float64],
    residuals: NDArray[np.float64],
    tolerance: float,
    zero: float,
) -> bool:
    if np.abs(values - before).max() > tolerance * max(values.max(), zero):
        return False
    gaps = np.diff(values)
    below = int(gaps.argmax()) + 1 if len(gaps) else 1
    gap = gaps.max() if len(gaps) else values.max()
    if values.max() <= zero or gap < _GAP * values[min(below, len(values) - 1)]:
        return True
    # By the sin-theta theorem, the residual over the gap bounds the angle.
    return bool(residuals[:below].max() <= max(_ANGLE * gap, zero))


def _upper_bound(products: BlockProducts, generator: np.random.Generator) -> float:
    """A number above all eigenvalues, from a few steps of the Lanczos method."""
    start = generator.standard_normal((*products.shape, 1), dtype=np.float32)
    vector = torch.from_numpy(start)
    vector /= vector.norm()
    previous, beta = torch.zeros_like(vector), 0.0
    diagonal, beside = [], []
    for _ in range(12):
        image = products @ vector - beta * previous
        diagonal.append(float((image * vector).sum()))
        image -= diagonal[-1] * vector
        beta = float(image.norm())
        beside.append(beta)
        if beta < 1e-6 * max(map(abs, diagonal)):
            break
        previous, vector = vector, image / beta
    small = np.diag(diagonal) + np.diag(beside[: len(diagonal) - 1], 1)
    return float(np.linalg.eigvalsh(small, UPLO="U")[-1]) + beta


def _filtered(
    products: BlockProducts, space: torch.Tensor, cut: float, top: float
) -> torch.Tensor:
    """Chebyshev polynomial of the matrix, below 1 from ``cut`` to ``top``."""
    center, half = (top + cut) / 2, (top - cut) / 2
    degree = int(max(_LEAST_DEGREE, _DEGREE * np.sqrt(top / cut)))
    # Scaled by its value at 0, or high degrees would overflow.
    factor = scale = -half / center
    before, now = space, torch.empty_like(space)
    products.add_to(now, space, scale=factor / half, shift=center)
    for _ in range(degree - 1):
        following = 1 / (2 / scale - factor)
        after = products.add_to(
            before,
            now,
            keep=-factor * following,
            scale=2 * following / half,
            shift=center,
        )
        before, now, factor = now, after, following
    return now


def _rayleigh_ritz(
    products: BlockProducts, space: torch.Tensor
) -> tuple[NDArray[np.float64], torch.Tensor, NDArray[np.float64]]:
    basis = torch.linalg.qr(space.view(-1, space.shape[2]))[0].contiguous()
    images = (products @ basis.view_as(space)).view_as(basis)
    projected = (basis.T @ images).double()
    values, turn = torch.linalg.eigh((projected + projected.T) / 2)
    single = turn.float()
    vectors = basis @ single
    residuals = torch.linalg.norm(images @ single - vectors * values.float(), dim=0)
    return values.numpy(), vectors.view_as(space), residuals.double().numpy()


def _exact_pairs(
    matrix: sparse.bsr_array, space: NDArray[np.float64], n_pairs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    basis, _ = np.linalg.qr(space)
    projected = basis.T @ exact_product(matrix, basis)
    values, turn = np.linalg.eigh((projected + projected.T) / 2)
    return np.maximum(values[:n_pairs], 0.0), basis @ turn[:, :n_pairs]
