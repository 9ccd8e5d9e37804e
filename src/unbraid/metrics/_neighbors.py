"""Mutual information of a continuous latent and a discrete factor, without bins."""

import numpy as np
from numpy.typing import NDArray

NEIGHBORS = 10
"""Nearest neighbors that make a neighborhood, as in InfoMEC."""


def without_ties(
    codes: NDArray[np.float64], generator: np.random.Generator
) -> NDArray[np.float64]:
    """Latents of deviation 1 with a trace of noise, so that no two rows are equal.

    A neighborhood among equal values has no size. The noise is 1e-10 of a latent's
    typical value, as in scikit-learn's estimator.

    Args:
        codes: Shape ``(n_rows, n_latents)``.
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
    r"""Mutual information in nats, estimated from nearest neighbors.

    Take the distance from a row to its ``neighbors``-th nearest row of the same class
    and count the rows of any class that are closer: if they are hardly more, the latent
    tells the class.

    .. math:: \psi(N) + \langle \psi(k) \rangle - \langle \psi(N_c) \rangle
        - \langle \psi(m) \rangle

    Args:
        latent: No two values equal, ``(n_rows,)``; see :func:`without_ties`.
        labels: Class numbers from 0, ``(n_rows,)``. A class of one row has no
            neighbors and is left out; classes of few rows use fewer neighbors.
        neighbors: From 1.

    Returns:
        From 0; estimates below it are cut off.

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
    """Distance of each value to its k-th nearest other value."""
    # The k nearest and the value itself are k + 1 values in a row: of all such windows
    # around a value, the one that reaches least far.
    first, last = ascending[: len(ascending) - k], ascending[k:]
    radii = np.full(len(ascending), np.inf)
    for offset in range(k + 1):
        place = slice(offset, offset + len(first))
        middle = ascending[place]
        reach = np.maximum(middle - first, last - middle)
        np.minimum(radii[place], reach, out=radii[place])
    return radii


def _count_within(
    values: NDArray[np.float64], radii: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Values closer to each value than its radius, itself among them."""
    # A shade less than the radius, so that rounding never lets the neighbor in that
    # the radius was measured to.
    radii = np.maximum(0.0, radii - 4 * np.spacing(np.abs(values) + radii))
    ascending = np.sort(values)
    return np.searchsorted(ascending, values + radii, side="right") - np.searchsorted(
        ascending, values - radii, side="left"
    )
