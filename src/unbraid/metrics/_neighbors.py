"""Mutual information of a continuous latent and a discrete factor, without bins."""

import numpy as np
from numpy.typing import NDArray

NEIGHBORS = 10
"""Number of nearest neighbors in InfoMEC."""


def without_ties(
    codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Return latents of deviation 1 with a little noise, so that no two are equal.

    Distances between equal values are 0, which the estimator does not allow. The noise
    is 1e-10 of a latent's typical value, as in scikit-learn.

    Args:
        codes: Codes, ``(n_rows, n_latents)``.
        generator: Source of the noise.
    """
    deviation = codes.std(axis=0)
    scaled = codes / np.where(deviation > 0, deviation, 1.0)
    size = 1e-10 * np.maximum(1.0, np.abs(scaled).mean(axis=0))
    return scaled + size * generator.standard_normal(codes.shape)


def neighbor_information(
    latent: NDArray[np.float64],
    labels: NDArray[np.integer],
    *,
    neighbors: int = NEIGHBORS,
) -> float:
    r"""Estimate mutual information, in nats, from nearest neighbors.

    Take the distance from a row to its ``neighbors``-th nearest row of the same class
    and count the rows of any class that are closer: if these are hardly more, the
    latent determines the class.

    .. math:: \psi(N) + \langle \psi(k) \rangle - \langle \psi(N_c) \rangle
        - \langle \psi(m) \rangle

    Args:
        latent: Distinct values, ``(n_rows,)``; see :func:`without_ties`.
        labels: Class numbers from 0, ``(n_rows,)``. A class of one row has no
            neighbors and is left out; classes of few rows use fewer neighbors.
        neighbors: Number of nearest neighbors, at least 1.

    Returns:
        Mutual information; negative estimates become 0.

    References:
        Ross (2014), Mutual Information between Discrete and Continuous Data Sets, PLoS
        ONE 9(2).
    """
    order = np.lexsort((latent, labels))
    ascending, classes = latent[order], labels[order]
    blocks = np.split(ascending, np.flatnonzero(np.diff(classes)) + 1)
    from scipy.special import digamma  # slow to import

    blocks = [block for block in blocks if len(block) > 1]
    if not blocks:
        return 0.0
    sizes = np.array([len(block) for block in blocks])
    used = np.minimum(neighbors, sizes - 1)
    pairs = zip(blocks, used, strict=True)
    radii = np.concatenate([_radii(block, k) for block, k in pairs])
    closer = _count_within(np.concatenate(blocks), radii)
    n_rows = sizes.sum()
    information = (
        digamma(n_rows)
        + sizes @ (digamma(used) - digamma(sizes)) / n_rows
        - digamma(closer).mean()
    )
    return max(0.0, float(information))


def _radii(ascending: NDArray[np.float64], k: int) -> NDArray[np.float64]:
    """Return the distance of each value to its k-th nearest other value."""
    # The value and its k nearest are k + 1 consecutive values: of all such windows
    # that contain the value, the one with the smallest reach.
    first, last = ascending[: len(ascending) - k], ascending[k:]
    radii = np.full(len(ascending), np.inf)
    for offset in range(k + 1):
        part = slice(offset, offset + len(first))
        middle = ascending[part]
        reach = np.maximum(middle - first, last - middle)
        np.minimum(radii[part], reach, out=radii[part])
    return radii


def _count_within(
    values: NDArray[np.float64], radii: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Count the values within the radius of each value, including itself."""
    # Slightly less than the radius, so that rounding never includes the neighbor to
    # which the radius was measured.
    radii = np.maximum(0.0, radii - 4 * np.spacing(np.abs(values) + radii))
    ascending = np.sort(values)
    return np.searchsorted(ascending, values + radii, side="right") - np.searchsorted(
        ascending, values - radii, side="left"
    )
