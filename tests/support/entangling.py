"""The map of the impossibility theorem: entangles latents and keeps their distribution.

Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf and Bachem (2019), Challenging Common
Assumptions in the Unsupervised Learning of Disentangled Representations, Theorem 1 and
its proof in appendix A. https://arxiv.org/abs/1811.12359
"""

import numpy as np
from scipy.stats import norm


def entangled(latents, marginals, rotation):
    """Independent latents, mixed, and as independent and distributed as before.

    Args:
        latents: Shape ``(n_rows, n_latents)``.
        marginals: Distribution of each latent, with ``cdf`` and ``ppf``.
        rotation: Orthogonal matrix; its transpose undoes what it does.
    """
    uniform = np.column_stack(
        [marginal.cdf(z) for marginal, z in zip(marginals, latents.T, strict=True)]
    )
    # A rotation leaves independent Gaussians what they are, and nothing else does.
    mixed = norm.cdf(norm.ppf(uniform) @ rotation)
    return np.column_stack(
        [marginal.ppf(u) for marginal, u in zip(marginals, mixed.T, strict=True)]
    )


def dense_rotation(n):
    """Orthogonal matrix whose entries are as even in size as is simple to write down.

    A reflection that takes two parts from each entry for the odd part of ``n``, doubled
    in the manner of Hadamard matrices until it is large enough.
    """
    odd = n & -n
    matrix = 2.0 / (n // odd) - np.eye(n // odd)
    while len(matrix) < n:
        matrix = np.kron([[1, 1], [1, -1]], matrix) / np.sqrt(2)
    return matrix
