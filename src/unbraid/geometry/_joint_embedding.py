"""Joint embedding: several random walks over the same observations, in one space."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._multislice_kernel import MultisliceKernel

_SPARE = 10
"""Vectors that are iterated beside those wanted, for speed."""

_DENSE = 256
"""Rows up to which the whole matrix is formed."""

_MOST = 400
"""Vectors of the Krylov space at most: 80 MB at 25,000 rows."""

_VANISHING = 1e-7
"""Singular value, as a share of the largest, that rounding makes: its square is
computed, to 16 digits."""


@dataclass(frozen=True, eq=False)
class JointEmbedding:
    """Coordinates of every slice and observation of every realisation.

    Attributes:
        vectors: Left singular vectors, ``(n_realisations, n_slices, n_observations,
            n_components)``; each is of length 1 over the first three axes, and at right
            angles to the others. Its sign is that of its largest right entry. 0 where a
            singular value is.
        singular_values: From the largest, ``(n_components,)``.
        residual: How far the worst is from being a singular vector, as a share of the
            largest singular value squared. An error of a vector is about this number
            over the gap between squared singular values on the same scale.
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
    r"""Left singular vectors of the stacked diffusion kernels of several realisations.

    The rows of :math:`P_1^t, \ldots, P_R^t` say where random walks from each slice and
    observation are after ``t`` steps. Since all walks are over the same slices and
    observations, rows of different realisations can be compared, whatever the networks:

    .. math::
        \begin{pmatrix} P_1^t \\ \vdots \\ P_R^t \end{pmatrix} = U S V^\top

    The matrix is never formed. A block Krylov space of :math:`\sum_r (P_r^t)^\top
    P_r^t` is grown until the wanted vectors are found, or it has 400 dimensions.

    The first vector is positive and nearly constant, because the rows of every
    :math:`P^t` sum to 1. It tells how much a walk dwells where the others do, not which
    observation it came from. It is kept here.

    Args:
        kernels: One for each realisation, of the same shape.
        n_components: Vectors wanted, from 1; cut to the number of columns.
        steps: The diffusion time ``t``, from 1. Few are better: after many, a walk is
            where its network dwells, wherever it began, and the vectors tell networks
            apart but no observations.
        tolerance: Largest residual.
        seed: Of the first block.

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
            "joint_embedding: expected kernels of the same slices and observations, "
            f"got shapes {sorted(shapes)}."
        )
    if n_components < 1 or steps < 1:
        raise ValueError(
            "joint_embedding: expected n_components and steps from 1, got "
            f"{n_components} and {steps}."
        )
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
    """Largest eigenvalues, their vectors ``(size, n_wanted)``, and a residual."""
    if size <= max(_DENSE, 4 * n_wanted):
        values, vectors = np.linalg.eigh(product(np.eye(size)))
        return values[: -n_wanted - 1 : -1], vectors[:, : -n_wanted - 1 : -1], 0.0
    width = n_wanted + _SPARE
    most = max(_MOST, 2 * width)
    basis = np.linalg.qr(generator.standard_normal((size, width)))[0]
    projected = np.empty((0, 0))
    while True:
        image = product(basis[:, -width:])
        column = basis.T @ image
        projected = np.block([[projected, column[:-width]], [column.T]])
        values, vectors = np.linalg.eigh(projected)
        values, vectors = values[: -n_wanted - 1 : -1], vectors[:, : -n_wanted - 1 : -1]
        fresh, factor = _orthogonal_part(image, basis)
        # Block Lanczos: only the last block leaves the space, and this is by how much.
        errors = np.linalg.norm(factor @ vectors[-width:], axis=0)
        residual = float(errors.max() / values[0])
        if residual <= tolerance or basis.shape[1] + width > min(most, size):
            return values, basis @ vectors, residual
        basis = np.hstack([basis, fresh])


def _orthogonal_part(
    image: NDArray[np.float64], basis: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """``image`` less its part in ``basis``, as orthonormal columns times a factor."""
    factor = np.eye(image.shape[1])
    # Once is not enough in floating point; a third time if a column was mere rounding.
    for _ in range(3):
        image, more = np.linalg.qr(image - basis @ (basis.T @ image))
        factor = more @ factor
    return image, factor
