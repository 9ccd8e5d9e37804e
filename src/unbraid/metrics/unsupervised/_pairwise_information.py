"""Mutual information between latents, pair by pair."""

from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count
from unbraid.metrics._information import mutual_information
from unbraid.metrics._inputs import BINS, read_codes, require_two_latents, to_bins
from unbraid.metrics._score import Score


def pairwise_mutual_information(codes: ArrayLike, *, bins: int = BINS) -> Score:
    r"""Mean mutual information of two different latents, in nats.

    Every latent is cut into bins of equal width and compared with every other. The
    score is 0 if any two latents are independent; dependence among three latents is not
    measured.

    .. math:: \frac{1}{D (D - 1)} \sum_{j \neq k} I(z_j; z_k)

    A constant latent has no information and lowers the mean; a duplicate shares its
    whole entropy. The estimate is too high by about ``(bins - 1)**2 / (2 * n_rows)``.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``, at least two latents.
        bins: Equal-width bins per latent. Scores depend on it: report it.

    Returns:
        Nats from 0 to ``log(bins)``, lower is more independent. ``matrix`` has the
        information of every two latents and the entropies on its diagonal,
        ``(n_latents, n_latents)``.

    Raises:
        ValueError: If there is one latent only.

    Example:
        >>> grid = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
        >>> pairwise_mutual_information(grid)
        0.0
        >>> round(pairwise_mutual_information(grid[:, [0, 0]]), 6)
        0.693147

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations. https://arxiv.org/abs/1811.12359
    """
    codes = read_codes("pairwise_mutual_information", codes)
    require_two_latents("pairwise_mutual_information", codes)
    n_latents = codes.shape[1]
    check_count("pairwise_mutual_information: bins", bins, least=2)
    # Each latent is contiguous in memory, because it is read once for every other.
    binned = [to_bins(latent, bins) for latent in np.ascontiguousarray(codes.T)]
    matrix = np.zeros((n_latents, n_latents))
    for j, k in combinations(range(n_latents), 2):
        matrix[j, k] = matrix[k, j] = mutual_information(binned[j], binned[k], bins)
    value = matrix.sum() / (n_latents * (n_latents - 1))
    for j in range(n_latents):
        matrix[j, j] = mutual_information(binned[j], binned[j], bins)
    return Score(value, name="pairwise_information", matrix=matrix)
