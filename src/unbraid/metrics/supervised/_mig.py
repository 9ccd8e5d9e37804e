"""Mutual information gap (MIG)."""

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count
from unbraid.metrics._information import (
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.metrics._inputs import BINS, Factors, read_inputs, require_two_latents
from unbraid.metrics._score import Score


def mutual_information_gap(
    codes: ArrayLike, factors: ArrayLike | Factors, *, bins: int = BINS
) -> Score:
    r"""Mutual information gap (MIG) of a representation.

    For each factor, the difference between the highest and the second-highest mutual
    information with any latent, divided by the factor's entropy, averaged over factors.
    The score is 1 if each factor is encoded by exactly one latent, and 0 if two latents
    always have the same information about it.

    .. math::
        \frac{1}{K} \sum_{k} \frac{1}{H(v_k)}
        \Bigl( I(z_{j(k)}; v_k) - \max_{j \neq j(k)} I(z_j; v_k) \Bigr)

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``, at least two latents.
            Binned here. A constant latent has no information; a duplicate closes gaps.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out.
        bins: Equal-width bins per latent. Scores depend on it: report it.

    Returns:
        A score from 0 to 1, higher is better. ``per_factor`` has the gaps, ``matrix``
        the mutual information in nats, ``(n_latents, n_factors)``.

    Raises:
        ValueError: If there is one latent only, or the input is not as above.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> one_latent_each = factors.astype(float)
        >>> mutual_information_gap(one_latent_each, factors, bins=2)
        1.0
        >>> rotated = one_latent_each @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> mutual_information_gap(rotated, factors, bins=2)
        0.0

    References:
        Chen, Li, Grosse and Duvenaud (2018), Isolating Sources of Disentanglement in
        Variational Autoencoders, Eq. 6. https://arxiv.org/abs/1802.04942
    """
    codes, factors = read_inputs("mutual_information_gap", codes, factors)
    check_count("mutual_information_gap: bins", bins)
    require_two_latents("mutual_information_gap", codes)
    information = mutual_information_matrix(bin_codes(codes, bins), factors)
    best = np.sort(information, axis=0)
    gaps = (best[-1] - best[-2]) / factor_entropies(factors)
    return Score(
        gaps.mean(),
        name="mig",
        per_factor=dict(zip(factors.names, gaps, strict=True)),
        matrix=information,
    )
