"""Lowest eigenvalues of a large sparse matrix, many products at a time."""

import warnings
from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import linalg, sparse

from unbraid.randomness import numpy_generator

_DENSE = 1500
"""Rows up to which the whole spectrum is computed, exactly."""

_DEGREE = 20
"""Products between two looks at the subspace."""

_SPARE = 6
"""Vectors beside those wanted, which separate them from the rest."""

_MOST_SWEEPS = 60

_ZERO = 1e-5
"""Share of the largest eigenvalue below which all are as good as 0."""


def bottom_eigenpairs(
    matrix: sparse.bsr_array,
    n_pairs: int,
    *,
    tolerance: float = 5e-3,
    seed: int = 0,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Smallest eigenvalues of a symmetric positive semi-definite matrix.

    A few random vectors are multiplied by a polynomial of the matrix that is large on
    the bottom of the spectrum and small on the rest, and the problem is solved in the
    space they span; again, until nothing changes. No factorisation is needed, which for
    a graph in more than two dimensions would fill up, and the matrix is read once for
    all vectors, where a Lanczos method reads it once for each.

    Args:
        matrix: Symmetric, ``(n, n)``.
        n_pairs: How many, from 1 and below ``n``.
        tolerance: Relative change of the eigenvalues at which to stop. Vectors below
            the largest gap are then within its square root, as an angle.
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
    multiply = _multiplier(matrix)
    generator = numpy_generator(seed, "eigenvectors")
    top = _upper_bound(multiply, n_rows, generator)
    width = n_pairs + _SPARE
    space = torch.from_numpy(generator.standard_normal((n_rows, width)))
    cut, before = 0.1 * top, np.zeros(n_pairs)
    values, vectors = before, space
    for _ in range(_MOST_SWEEPS):
        space = _filtered(multiply, space, cut, top)
        values, vectors, residuals = _rayleigh_ritz(multiply, space)
        # The next filter spares what lies below the highest value that was found.
        space, cut = vectors, values[-1]
        found = values[:n_pairs]
        if _is_settled(found, before, residuals[:n_pairs], tolerance, _ZERO * top):
            break
        before = found
    return np.maximum(values[:n_pairs], 0.0), vectors[:, :n_pairs].numpy()


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
    # By the sin-theta theorem, the residual over the gap bounds the angle.
    gap = max(gaps.max() if len(gaps) else values.max(), zero)
    return bool(residuals[:below].max() <= np.sqrt(tolerance) * gap)


def _multiplier(matrix: sparse.bsr_array) -> Callable[[torch.Tensor], torch.Tensor]:
    if not torch.backends.mkl.is_available():
        return lambda block: torch.from_numpy(matrix @ block.numpy())
    with warnings.catch_warnings():
        # That torch's sparse matrices may change is no concern of the caller.
        warnings.simplefilter("ignore", UserWarning)
        blocks = torch.sparse_bsr_tensor(
            torch.from_numpy(matrix.indptr.astype(np.int64)),
            torch.from_numpy(matrix.indices.astype(np.int64)),
            torch.from_numpy(matrix.data),
            size=matrix.shape,
        )
    return lambda block: blocks @ block


def _upper_bound(
    multiply: Callable[[torch.Tensor], torch.Tensor],
    n_rows: int,
    generator: np.random.Generator,
) -> float:
    """A number above all eigenvalues, from a few steps of the Lanczos method."""
    vector = torch.from_numpy(generator.standard_normal((n_rows, 1)))
    vector /= vector.norm()
    previous, beta = torch.zeros_like(vector), 0.0
    diagonal, beside = [], []
    for _ in range(12):
        image = multiply(vector) - beta * previous
        diagonal.append(float((image * vector).sum()))
        image -= diagonal[-1] * vector
        beta = float(image.norm())
        beside.append(beta)
        if beta < 1e-12 * max(map(abs, diagonal)):
            break
        previous, vector = vector, image / beta
    small = np.diag(diagonal) + np.diag(beside[: len(diagonal) - 1], 1)
    return float(np.linalg.eigvalsh(small, UPLO="U")[-1]) + beta


def _filtered(
    multiply: Callable[[torch.Tensor], torch.Tensor],
    space: torch.Tensor,
    cut: float,
    top: float,
) -> torch.Tensor:
    """Chebyshev polynomial of the matrix, below 1 from ``cut`` to ``top``."""
    centre, half = (top + cut) / 2, (top - cut) / 2
    # Scaled by its value at 0, or high degrees would overflow.
    factor = scale = -half / centre
    before, now = space, (multiply(space) - centre * space) * (factor / half)
    for _ in range(_DEGREE - 1):
        following = 1 / (2 / scale - factor)
        image = multiply(now)
        image -= centre * now
        image *= 2 * following / half
        image -= (factor * following) * before
        before, now, factor = now, image, following
    return now


def _rayleigh_ritz(
    multiply: Callable[[torch.Tensor], torch.Tensor], space: torch.Tensor
) -> tuple[NDArray[np.float64], torch.Tensor, NDArray[np.float64]]:
    basis, _ = torch.linalg.qr(space)
    images = multiply(basis)
    projected = basis.T @ images
    values, turn = torch.linalg.eigh((projected + projected.T) / 2)
    vectors = basis @ turn
    residuals = torch.linalg.norm(images @ turn - vectors * values, dim=0)
    return values.numpy(), vectors, residuals.numpy()
