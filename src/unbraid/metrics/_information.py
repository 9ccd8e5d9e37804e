"""Entropies and mutual information of binned codes and discrete factors, in nats.

All are plug-in estimates: probabilities are relative frequencies.
"""

import numpy as np
from numpy.typing import NDArray

from ._inputs import Factors, to_bins

_BLOCK = 2**16
"""Rows that are counted at a time, few enough for the processor cache."""


def bin_codes(codes: NDArray[np.floating], bins: int) -> NDArray[np.int64]:
    """Return the bin numbers, from 0, of codes in equal-width bins per latent."""
    # Columns are contiguous in memory, which is twice as fast for a million rows.
    latents = np.ascontiguousarray(codes.T)
    return np.stack([to_bins(latent, bins) for latent in latents]).T


def mutual_information_matrix(
    binned: NDArray[np.int64], factors: Factors
) -> NDArray[np.float64]:
    r"""Return the mutual information of every latent with every factor.

    .. math:: I(z_j; v_k) = \sum_{a, b} p_{ab} \log \frac{p_{ab}}{p_a p_b}

    Args:
        binned: Bin numbers of the codes, ``(n_rows, n_latents)``.
        factors: Factors of the same rows; for each factor, rows where it is missing
            are left out.

    Returns:
        Mutual information in nats, ``(n_latents, n_factors)``.
    """
    table = np.empty((binned.shape[1], factors.n_factors))
    columns = np.ascontiguousarray(factors.labels.T)
    for k, (labels, size) in enumerate(zip(columns, factors.sizes, strict=True)):
        known = labels >= 0
        rows = slice(None) if known.all() else known
        for j, latent in enumerate(binned.T):
            table[j, k] = mutual_information(latent[rows], labels[rows], size)
    return table


def mutual_information(
    a: NDArray[np.integer], b: NDArray[np.integer], b_size: int | None = None
) -> float:
    """Return the mutual information of two columns of class numbers, in nats."""
    b_size = int(b.max()) + 1 if b_size is None else b_size
    counts = np.zeros((int(a.max()) + 1) * b_size, dtype=np.int64)
    for start in range(0, len(a), _BLOCK):
        part = slice(start, start + _BLOCK)
        counts += np.bincount(a[part] * b_size + b[part], minlength=len(counts))
    counts = counts.reshape(-1, b_size)
    # Counts are summed before they are divided, so that a constant column has a class
    # of probability exactly 1 and no information.
    apart = sum(entropy_of(counts.sum(axis=axis) / len(a)) for axis in (1, 0))
    # Rounding can make the information of independent columns a tiny negative number.
    return max(0.0, apart - entropy_of(counts / len(a)))


def factor_entropies(factors: Factors) -> NDArray[np.float64]:
    """Return the entropy of each factor in the rows where it is known, in nats."""
    return np.array([entropy(labels[labels >= 0]) for labels in factors.labels.T])


def entropy(labels: NDArray[np.integer]) -> float:
    """Return the entropy of a column of class numbers, in nats."""
    return entropy_of(np.bincount(labels) / len(labels))


def entropy_of(probabilities: NDArray[np.floating]) -> float:
    """Return the entropy of probabilities of any shape, in nats."""
    seen = probabilities[probabilities > 0]
    return float(-(seen * np.log(seen)).sum())
