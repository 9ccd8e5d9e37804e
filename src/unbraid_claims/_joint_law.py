"""A permutation test of whether two samples have the same distribution."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from unbraid.foundation import numpy_generator


def energy_test(
    first: ArrayLike, second: ArrayLike, *, n_permutations: int = 199, seed: int = 0
) -> float:
    r"""Return the p-value of a test that two samples have the same distribution.

    The energy distance is zero only for equal joint distributions, so it also sees
    dependence between columns whose marginal distributions agree.

    .. math::
        2 \, \mathbb{E} \lVert x - y \rVert - \mathbb{E} \lVert x - x' \rVert
        - \mathbb{E} \lVert y - y' \rVert

    Args:
        first: Sample of independent rows, ``(n_rows, n_columns)``.
        second: Sample of the same shape, independent of ``first``.
        n_permutations: Number of random divisions of all rows into two halves.
        seed: Seed of the permutations.

    Returns:
        p-value, at least ``1 / (n_permutations + 1)``.

    Example:
        >>> generator = np.random.default_rng(0)
        >>> same, other = generator.normal(size=(2, 100, 2))
        >>> energy_test(same, other) > 0.05, energy_test(same, other + 1.0)
        (True, 0.005)

    References:
        Székely and Rizzo (2004), Testing for Equal Distributions in High Dimension.
    """
    a, b = (np.asarray(sample, dtype=np.float64) for sample in (first, second))
    if a.ndim != 2 or a.shape != b.shape or len(a) < 2:
        raise ValueError(
            "first and second must have the same shape (n_rows, n_columns) with at "
            f"least two rows, got {a.shape} and {b.shape}."
        )
    pooled = np.concatenate([a, b])
    # With signs s of the two samples, the energy distance is -s' D s / n^2.
    signs = np.repeat([1.0, -1.0], len(a))
    generator = numpy_generator(seed, "energy test")
    permuted = generator.permuted(np.tile(signs, (n_permutations, 1)), axis=1)
    every = np.vstack([signs, permuted])
    energies = -np.einsum("pi,pi->p", every @ cdist(pooled, pooled), every)
    # Tolerance for rounding errors.
    as_large = energies[1:] >= energies[0] - 1e-9 * np.abs(energies).max()
    return float((1 + np.count_nonzero(as_large)) / (n_permutations + 1))
