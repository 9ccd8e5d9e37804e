"""DCIMIG: information about factors in latents of their own."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count
from unbraid.metrics._information import (
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.metrics._inputs import BINS, Factors, read_inputs
from unbraid.metrics._score import Score


def dcimig_score(
    codes: ArrayLike, factors: ArrayLike | Factors, *, bins: int = BINS
) -> Score:
    r"""DCIMIG (3CharM) of a representation.

    Each latent is assigned to the factor about which it has most information, with the
    gap to its second best factor. Each factor keeps the largest gap among its latents,
    or 0 if it has none; the sum of these gaps is divided by the sum of the factors'
    entropies.

    .. math::
        \frac{\sum_k \max_{j : k(j) = k}
        \bigl( I(z_j; v_k) - \max_{l \neq k} I(z_j; v_l) \bigr)}{\sum_k H(v_k)}

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. Binned here. Constant
            and duplicate latents change nothing.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out. With a single factor the second best counts as 0.
        bins: Equal-width bins per latent. Scores depend on it: report it.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the gap of each factor
        as a share of its entropy, ``matrix`` the mutual information in nats,
        ``(n_latents, n_factors)``.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> dcimig_score(factors.astype(float), factors)
        1.0
        >>> one_factor_is_lost = np.column_stack([factors[:, 0], factors[:, 0]])
        >>> dcimig_score(one_factor_is_lost, factors)
        0.5

    References:
        Sepliarskaia, Kiseleva and de Rijke (2019), How to Not Measure Disentanglement,
        the metric 3CharM. https://arxiv.org/abs/1910.05587
        Called DCIMIG in Carbonneau et al. (2022), Measuring Disentanglement: A Review
        of Metrics.
    """
    codes, factors = read_inputs("dcimig_score", codes, factors)
    check_count("dcimig_score: bins", bins)
    information = mutual_information_matrix(bin_codes(codes, bins), factors)
    padded = np.column_stack([np.zeros(len(information)), information])
    best = np.sort(padded, axis=1)
    kept = np.zeros(factors.n_factors)
    np.maximum.at(kept, information.argmax(axis=1), best[:, -1] - best[:, -2])
    entropies = factor_entropies(factors)
    return Score(
        kept.sum() / entropies.sum(),
        name="dcimig",
        per_factor=dict(zip(factors.names, kept / entropies, strict=True)),
        matrix=information,
    )
