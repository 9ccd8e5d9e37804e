"""M-PHATE: the training of one network as a picture, from its multislice kernel."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform
from threadpoolctl import threadpool_limits

from unbraid.foundation import check_integer, check_positive

from ._multislice_kernel import MultisliceKernel

_FLOOR = 1e-7
"""Added to probabilities before the logarithm, as PHATE does."""

_SMALLEST = 1e-300
"""Relative eigenvalue below which the logarithm would be infinite."""

_MOST_POINTS = 4_096
"""Pairs of slice and observation of which all distances fit into memory."""


@dataclass(frozen=True, eq=False)
class PotentialEmbedding:
    """Coordinates of every slice and observation of one network.

    Attributes:
        vectors: Coordinates, ``(n_slices, n_observations, n_components)``, centered.
        steps: Diffusion time that was used.
        stress: Share of the squared potential distances that the coordinates miss, 0
            if they are exact.
    """

    vectors: NDArray[np.float64]
    steps: int
    stress: float


def potential_embedding(
    kernel: MultisliceKernel,
    *,
    n_components: int = 2,
    steps: int | Literal["auto"] = "auto",
    iterations: int = 300,
    tolerance: float = 1e-6,
) -> PotentialEmbedding:
    r"""M-PHATE: coordinates whose distances are potential distances.

    The potential of a slice and observation is the logarithm of where a random walk
    from there is after ``t`` steps. Metric multidimensional scaling finds points with
    the distances of the potentials, so that the picture shows both what the network
    treats alike and how that changes during training:

    .. math::
        U = -\log P^t, \qquad
        \min_Y \sum_{a < b} \bigl(\lVert Y_a - Y_b \rVert
        - \lVert U_a - U_b \rVert\bigr)^2

    With kernels of observations, as :func:`multislice_kernel` makes them of traces,
    every point is an observation at a step of training. The authors draw hidden units:
    for these, swap the last two axes of the activations.

    Args:
        kernel: Kernel of one network, with at most 4,096 pairs of slice and
            observation.
        n_components: Number of coordinates, at least 1.
        steps: Diffusion time ``t``; ``"auto"`` takes the knee of
            :func:`diffusion_entropy`, as PHATE does.
        iterations: Largest number of iterations of the scaling (SMACOF), which starts
            from classical scaling.
        tolerance: Relative decrease of the stress at which it stops.

    Raises:
        ValueError: If the kernel has more than 4,096 rows.

    Example:
        >>> from unbraid.geometry import multislice_kernel
        >>> activations = np.random.default_rng(0).normal(size=(4, 10, 3))
        >>> embedded = potential_embedding(multislice_kernel(activations))
        >>> embedded.vectors.shape, embedded.stress < 0.5
        ((4, 10, 2), True)

    References:
        Gigante, Charles, Krishnaswamy and Mishne (2019), Visualizing the PHATE of
        Neural Networks, section 3. https://arxiv.org/abs/1908.02831
        Moon et al. (2019), Visualizing Structure and Transitions in High-Dimensional
        Biological Data, for the potential distance and the diffusion time.
        De Leeuw (1977), for SMACOF. Our scaling is over all points, where PHATE uses
        landmarks, and has no random start.
    """
    check_integer("n_components", n_components, least=1)
    check_integer("iterations", iterations, least=0)
    check_positive("tolerance", tolerance)
    n_points = _count_points(kernel)
    # On a busy machine, threads wait for each other most of the time.
    with threadpool_limits(1, user_api="blas"):
        if steps == "auto":
            steps = _knee(diffusion_entropy(kernel)) + 1
        check_integer("steps", steps, least=1)
        powers = kernel.diffuse(_identity(kernel), steps=steps)
        logs = -np.log(powers.reshape(n_points, n_points) + _FLOOR)
        distances = squareform(pdist(logs))
        points = _classical_scaling(distances, n_components)
        points, stress = _smacof(distances, points, iterations, tolerance)
    vectors = (points - points.mean(axis=0)).reshape(*kernel.shape, n_components)
    return PotentialEmbedding(vectors, steps, stress)


def diffusion_entropy(
    kernel: MultisliceKernel, *, most_steps: int = 100
) -> NDArray[np.float64]:
    r"""Von Neumann entropy of the random walk after 1, 2, ... steps.

    .. math::
        H(t) = -\sum_i p_i \log p_i, \qquad
        p_i = \frac{|\lambda_i|^t}{\sum_j |\lambda_j|^t}

    with the eigenvalues :math:`\lambda` of :math:`P`. The entropy falls quickly while
    noise is smoothed away and slowly afterwards.

    Args:
        kernel: Kernel of one network.
        most_steps: Largest diffusion time, at least 1.

    Returns:
        Entropies in nats, ``(most_steps,)``.

    Example:
        >>> from unbraid.geometry import multislice_kernel
        >>> constant = multislice_kernel(np.zeros((1, 4, 2)))  # all affinities are 1
        >>> diffusion_entropy(constant, most_steps=2).round(6) + 0.0
        array([0., 0.])

    References:
        Moon et al. (2019), section "Selecting the diffusion time scale t".
    """
    check_integer("most_steps", most_steps, least=1)
    n_points = _count_points(kernel)
    root = np.sqrt(kernel.degrees)[..., None]
    # P is similar to this symmetric matrix.
    walk = kernel.diffuse(_identity(kernel) / root.reshape(-1), steps=1) * root
    symmetric = walk.reshape(n_points, n_points)
    sizes = np.abs(np.linalg.eigvalsh((symmetric + symmetric.T) / 2))
    logs = np.log(np.maximum(sizes / sizes.max(), _SMALLEST))
    entropies = np.empty(most_steps)
    for index in range(most_steps):
        weights = np.exp((index + 1) * logs)
        shares = weights / weights.sum()
        known = shares[shares > 0]
        entropies[index] = -(known * np.log(known)).sum()
    return entropies


def _count_points(kernel: MultisliceKernel) -> int:
    n_points = kernel.shape[0] * kernel.shape[1]
    if n_points > _MOST_POINTS:
        raise ValueError(
            f"The kernel has {n_points:,} pairs of slice and observation, but at most "
            f"{_MOST_POINTS:,} are possible. Use fewer observations or slices."
        )
    return n_points


def _identity(kernel: MultisliceKernel) -> NDArray[np.float64]:
    n_points = kernel.shape[0] * kernel.shape[1]
    return np.eye(n_points).reshape(*kernel.shape, n_points)


def _knee(values: NDArray[np.float64]) -> int:
    """Return the index at which two straight lines fit a curve best."""
    if len(values) < 3:
        return 0
    errors = [
        _line_error(values[: index + 1]) + _line_error(values[index:])
        for index in range(1, len(values) - 1)
    ]
    return int(np.argmin(errors)) + 1


def _line_error(values: NDArray[np.float64]) -> float:
    positions = np.arange(len(values)) - (len(values) - 1) / 2
    centered = values - values.mean()
    slope = positions @ centered / (positions @ positions)
    return float(((centered - slope * positions) ** 2).sum())


def _classical_scaling(
    distances: NDArray[np.float64], n_components: int
) -> NDArray[np.float64]:
    """Return the coordinates of classical scaling, ``(n, n_components)``."""
    squares = distances**2
    centered = squares - squares.mean(axis=0)
    products = -0.5 * (centered - centered.mean(axis=1, keepdims=True))
    values, vectors = np.linalg.eigh((products + products.T) / 2)
    found = np.zeros((len(distances), n_components))
    kept = min(n_components, len(distances))
    scales = np.sqrt(np.maximum(values[: -kept - 1 : -1], 0.0))
    vectors = vectors[:, : -kept - 1 : -1]
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(kept)]
    found[:, :kept] = vectors * np.sign(largest) * scales
    return found


def _smacof(
    distances: NDArray[np.float64],
    points: NDArray[np.float64],
    iterations: int,
    tolerance: float,
) -> tuple[NDArray[np.float64], float]:
    """Improve coordinates by majorization; return them and their relative stress."""
    total = float((distances**2).sum())
    if not total:
        return points, 0.0
    current = squareform(pdist(points))
    stress = float(((current - distances) ** 2).sum()) / total
    for _ in range(iterations):
        ratios = np.zeros_like(distances)
        np.divide(distances, current, out=ratios, where=current > 0)
        ratios = -ratios
        np.fill_diagonal(ratios, -ratios.sum(axis=1))
        points = ratios @ points / len(points)
        current = squareform(pdist(points))
        last, stress = stress, float(((current - distances) ** 2).sum()) / total
        if last - stress <= tolerance * last:
            break
    return points, stress
