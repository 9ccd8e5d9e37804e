"""Smallest eigenvalues of a large sparse matrix, by filtered subspace iteration."""

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse

from unbraid.foundation import numpy_generator

from ._block_products import BlockProducts, exact_product

_DENSE = 1500
"""Largest number of rows for which the dense solver is used."""

_LEAST_DEGREE = 20
"""Smallest degree of the filter polynomial."""

_DEGREE = 2.5
"""Degree of the filter divided by the square root of ``top / cut``."""

_SPARE = 6
"""Additional vectors, which separate the wanted ones from the rest."""

_MAX_SWEEPS = 60

_LEAST_CUT = 1e-3
"""Lowest start of the filtered interval, as a fraction of the largest eigenvalue."""

_ZERO = 1e-5
"""Fraction of the largest eigenvalue below which an eigenvalue counts as 0."""

_ANGLE = 0.02
"""Required accuracy, in radians, of the space of the eigenvectors below a gap."""

_GAP = 0.3
"""Relative gap between eigenvalues from which the accuracy above is required."""


def bottom_eigenpairs(
    matrix: sparse.bsr_array,
    n_pairs: int,
    *,
    tolerance: float = 1.5e-2,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest eigenvalues of a symmetric positive semi-definite matrix.

    Random vectors are multiplied by a polynomial of the matrix that is large at the
    bottom of the spectrum and small elsewhere, and the eigenproblem is solved in the
    space that they span. This is repeated until the eigenvalues no longer change. Only
    the last of these small problems is set up in double precision. No factorization is
    needed (for graphs in more than two dimensions it would fill in), and the matrix is
    read once for all vectors, where a Lanczos method reads it once for each.

    Args:
        matrix: Symmetric matrix of shape ``(n, n)``.
        n_pairs: Number of eigenpairs to compute, at least 1 and below ``n``.
        tolerance: Relative change of the eigenvalues below which the iteration stops,
            provided that eigenvectors below a gap are accurate to 0.02 rad.
        seed: Seed of the initial vectors.

    Returns:
        Eigenvalues in ascending order, ``(n_pairs,)``, and eigenvectors as columns,
        ``(n, n_pairs)``.

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
    for _ in range(_MAX_SWEEPS):
        space = _filtered(products, space, cut, top)
        values, space, residuals = _rayleigh_ritz(products, space)
        # The next filter keeps everything below the highest eigenvalue of this sweep.
        lowest, cut = values[:n_pairs], max(values[-1], _LEAST_CUT * top)
        if _has_converged(lowest, before, residuals[:n_pairs], tolerance, _ZERO * top):
            break
        before = lowest
    return _exact_pairs(matrix, products.in_matrix_order(space), n_pairs)


def _has_converged(
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
    # By the sin-theta theorem, the residual divided by the gap bounds the angle.
    return bool(residuals[:below].max() <= max(_ANGLE * gap, zero))


def _upper_bound(products: BlockProducts, generator: np.random.Generator) -> float:
    """Upper bound of all eigenvalues, from a few steps of the Lanczos method."""
    start = generator.standard_normal((*products.shape, 1), dtype=np.float32)
    vector = torch.from_numpy(start)
    vector /= vector.norm()
    previous, beta = torch.zeros_like(vector), 0.0
    diagonal, off_diagonal = [], []
    for _ in range(12):
        image = products @ vector - beta * previous
        diagonal.append(float((image * vector).sum()))
        image -= diagonal[-1] * vector
        beta = float(image.norm())
        off_diagonal.append(beta)
        if beta < 1e-6 * max(map(abs, diagonal)):
            break
        previous, vector = vector, image / beta
    small = np.diag(diagonal) + np.diag(off_diagonal[: len(diagonal) - 1], 1)
    return float(np.linalg.eigvalsh(small, UPLO="U")[-1]) + beta


def _filtered(
    products: BlockProducts, space: torch.Tensor, cut: float, top: float
) -> torch.Tensor:
    """Apply a Chebyshev polynomial of the matrix that is small on [cut, top]."""
    center, half = (top + cut) / 2, (top - cut) / 2
    degree = int(max(_LEAST_DEGREE, _DEGREE * np.sqrt(top / cut)))
    # Scaled by its value at 0, because high degrees would overflow otherwise.
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
