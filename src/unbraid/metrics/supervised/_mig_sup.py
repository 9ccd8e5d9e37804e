"""MIG-sup: does each latent have information about one factor only?"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_count, check_option
from unbraid.metrics._active import active_latents
from unbraid.metrics._information import (
    bin_codes,
    factor_entropies,
    mutual_information_matrix,
)
from unbraid.metrics._inputs import BINS, Factors, read_inputs
from unbraid.metrics._score import Score


def mutual_information_gap_by_latent(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    bins: int = BINS,
    latents: Literal["all", "active"] = "active",
) -> Score:
    r"""Mutual information gap per latent (MIG-sup), the supplement of MIG.

    For each latent, the difference between the highest and the second-highest mutual
    information with any factor, as shares of the factors' entropies, averaged over
    latents. MIG asks whether a factor has one latent; this asks whether a latent has
    one factor.

    .. math::
        \frac{1}{J} \sum_{j} \Bigl( \frac{I(z_j; v_{k(j)})}{H(v_{k(j)})} -
        \max_{k \neq k(j)} \frac{I(z_j; v_k)}{H(v_k)} \Bigr)

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. Binned here. A constant
            latent has no gap; a duplicate one changes only the average.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out. With a single factor the second-highest information is 0.
        bins: Equal-width bins per latent. Scores depend on it: report it.
        latents: ``"all"`` averages over every latent: latents that are not used pull
            the score down, so that ten latents never reach 1 on five factors.
            ``"active"`` leaves out the latents whose range is below a twentieth of the
            widest, so that the score does not depend on how many are to spare.

    Returns:
        A score from 0 to 1, higher is better; 0 when no latent is left. ``matrix`` has
        the information as a share of the entropy, ``(n_latents, n_factors)``,
        ``details`` the gap of each latent and the number of active ones.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> one_latent_each = np.column_stack([factors, np.zeros(4)])
        >>> mutual_information_gap_by_latent(one_latent_each, factors)
        1.0
        >>> rotated = factors @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> mutual_information_gap_by_latent(rotated, factors)
        0.0

    References:
        Li, Murkute, Gyawali and Wang (2020), Progressive Learning and Disentanglement
        of Hierarchical Representations, on MIG-sup. https://arxiv.org/abs/2002.10549
        Other implementations average over all latents.
    """
    codes, factors = read_inputs("mutual_information_gap_by_latent", codes, factors)
    check_count("mutual_information_gap_by_latent: bins", bins)
    check_option(
        "mutual_information_gap_by_latent: latents", latents, ("all", "active")
    )
    information = mutual_information_matrix(bin_codes(codes, bins), factors)
    shares = information / factor_entropies(factors)
    best = np.sort(np.column_stack([np.zeros(len(shares)), shares]), axis=1)
    gaps = best[:, -1] - best[:, -2]
    active = active_latents(codes)
    counted = gaps if latents == "all" else gaps[active]
    return Score(
        counted.mean() if len(counted) else 0.0,
        name="mig_sup",
        variant=latents,
        matrix=shares,
        details={
            "n_active": active.sum(),
            **{f"latent_{j}": gap for j, gap in enumerate(gaps)},
        },
    )
