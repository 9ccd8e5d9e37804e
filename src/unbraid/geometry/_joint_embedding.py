"""Joint embedding of several random walks over the same observations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_integer, numpy_generator

from ._multislice_kernel import MultisliceKernel

_SPARE = 10
"""Additional vectors, for faster convergence."""

_DENSE = 256
"""Largest number of rows for which the whole matrix is formed."""

_MAX_VECTORS = 400
"""Largest dimension of the Krylov space: 80 MB at 25,000 rows."""

_VANISHING = 1e-7
"""Fraction of the largest singular value below which a singular value is a rounding
error: squares are computed to 16 digits."""


@dataclass(frozen=True, eq=False)
class JointEmbedding:
    """Coordinates of every slice and observation of every run.

    Attributes:
        vectors: Left singular vectors, ``(n_runs, n_slices, n_observations,
            n_components)``, orthonormal over the first three axes. The sign is chosen
            so that the largest entry of the right singular vector is positive. Vectors
            of singular value 0 are 0.
        singular_values: Singular values in descending order, ``(n_components,)``.
        residual: Largest residual of a singular vector, relative to the square of the
            largest singular value. The error of a vector is about this number divided
            by the gap between squared singular values on the same scale.
    """

    vectors: NDArray[np.float64]
    singular_values: NDArray[np.float64]
    residual: float


def joint_embedding(
    kernels: Sequence[MultisliceKernel],
    *,
    n_components: int = 2,
    steps: int = 2,
    tolerance: float = 1e-9,
    seed: int = 0,
) -> JointEmbedding:
    r"""Left singular vectors of the stacked diffusion kernels of several runs.

    The rows of :math:`P_1^t, \ldots, P_R^t` say where random walks from each slice and
    observation are after ``t`` steps. Since all walks are over the same slices and
    observations, rows of different runs can be compared, whatever their networks:

    .. math::
        \begin{pmatrix} P_1^t \\ \vdots \\ P_R^t \end{pmatrix} = U S V^\top

    The matrix is never formed. A block Krylov space of :math:`\sum_r (P_r^t)^\top
    P_r^t` is extended until the vectors have converged, or it has 400 dimensions.

    The first vector is positive and nearly constant, because the rows of every
    :math:`P^t` sum to 1. It measures how much a walk stays where the others do, not
    which observation it started from. It is included here.

    Args:
        kernels: Kernels of the runs, all of the same shape.
        n_components: Number of vectors, at least 1; at most the number of columns is
            returned.
        steps: Diffusion time ``t``, at least 1. Few steps are better: after many, the
            position of a walk depends on the network and no longer on its start, so
            that the vectors distinguish networks but not observations.
        tolerance: Residual at which the iteration stops.
        seed: Seed of the initial block of vectors.

    Example:
        >>> from unbraid.geometry import multislice_kernel
        >>> generator = np.random.default_rng(0)
        >>> traces = [generator.normal(size=(4, 6, units)) for units in (3, 5)]
        >>> embedded = joint_embedding([multislice_kernel(trace) for trace in traces])
        >>> embedded.vectors.shape
        (2, 4, 6, 2)

    References:
        Holtz, Mishne and Cloninger (2022), section 3.1, "Joint embeddings".

        Musco and Musco (2015), Randomized Block Krylov Methods for Stronger and Faster
        Approximate Singular Value Decomposition, algorithm 2.
    """
    shapes = {kernel.shape for kernel in kernels}
    if len(shapes) != 1:
        raise ValueError(
            "All kernels must have the same slices and observations, got shapes "
            f"{sorted(shapes)}."
        )
    check_integer("n_components", n_components, least=1)
    check_integer("steps", steps, least=1)
    shape = shapes.pop()
    size = shape[0] * shape[1]

    def product(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
        vectors = vectors.reshape(*shape, -1)
        total = np.zeros_like(vectors)
        for kernel in kernels:
            walked = kernel.diffuse(vectors, steps=steps)
            total += kernel.diffuse(walked, steps=steps, transposed=True)
        return total.reshape(size, -1)

    generator = numpy_generator(seed, "joint embedding")
    n_wanted = min(n_components, size)
    squares, right, residual = _leading(product, size, n_wanted, tolerance, generator)
    largest = right[np.abs(right).argmax(axis=0), np.arange(n_wanted)]
    right = (right * np.sign(largest)).reshape(*shape, n_wanted)
    values = np.sqrt(np.maximum(squares, 0.0))
    scales = np.zeros(n_wanted)
    np.divide(1.0, values, out=scales, where=values > _VANISHING * values[0])
    left = [kernel.diffuse(right, steps=steps) * scales for kernel in kernels]
    return JointEmbedding(np.stack(left), values, residual)


def _leading(
    product: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    size: int,
    n_wanted: int,
    tolerance: float,
    generator: np.random.Generator,
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return the largest eigenvalues, eigenvectors ``(size, n_wanted)``, residual."""
    if size <= max(_DENSE, 4 * n_wanted):
        values, vectors = np.linalg.eigh(product(np.eye(size)))
        return values[: -n_wanted - 1 : -1], vectors[:, : -n_wanted - 1 : -1], 0.0
    width = n_wanted + _SPARE
    max_vectors = max(_MAX_VECTORS, 2 * width)
    basis = np.linalg.qr(generator.standard_normal((size, width)))[0]
    projected = np.empty((0, 0))
    while True:
        image = product(basis[:, -width:])
        column = basis.T @ image
        projected = np.block([[projected, column[:-width]], [column.T]])
        values, vectors = np.linalg.eigh(projected)
        values, vectors = values[: -n_wanted - 1 : -1], vectors[:, : -n_wanted - 1 : -1]
        fresh, factor = _orthogonal_part(image, basis)
        # Block Lanczos: only the image of the last block leaves the space, by this.
        errors = np.linalg.norm(factor @ vectors[-width:], axis=0)
        residual = float(errors.max() / values[0])
        if residual <= tolerance or basis.shape[1] + width > min(max_vectors, size):
            return values, basis @ vectors, residual
        basis = np.hstack([basis, fresh])


def _orthogonal_part(
    image: NDArray[np.float64], basis: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return ``image`` minus its part in ``basis``: orthonormal columns and factor."""
    factor = np.eye(image.shape[1])
    # Once is not enough in floating point, nor twice if a column was a rounding error.
    for _ in range(3):
        image, more = np.linalg.qr(image - basis @ (basis.T @ image))
        factor = more @ factor
    return image, factor
