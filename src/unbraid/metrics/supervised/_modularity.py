"""Modularity: does each latent have information about one factor only?"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, check_option
from unbraid.metrics._active import active_latents
from unbraid.metrics._information import bin_codes, mutual_information_matrix
from unbraid.metrics._inputs import BINS, Factors, read_inputs
from unbraid.metrics._score import Score


def modularity_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    bins: int = BINS,
    latents: Literal["all", "active"] = "all",
) -> Score:
    r"""Modularity of a representation.

    For each latent, one minus the mean squared information about all factors but its
    best one, as a share of the squared information about the best one, averaged over
    latents. The score does not depend on whether several latents encode the same
    factor, nor on how much information there is about a factor.

    .. math::
        \frac{1}{J} \sum_{j} \Bigl( 1 -
        \frac{\sum_{k \neq k(j)} I(z_j; v_k)^2}{(K - 1)\, I(z_j; v_{k(j)})^2} \Bigr)

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. Binned here. A constant
            latent counts as 0; a duplicate one changes only the average.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out. With a single factor, each latent with any information about
            it counts as 1.
        bins: Equal-width bins per latent.
        latents: ``"all"`` averages over every latent, as published. A dead latent then
            counts too, with the ratio of two numbers that are mostly noise, which
            lies anywhere; ``"active"`` leaves out the latents whose range is below a
            twentieth of the widest.

    Returns:
        A score from 0 to 1, higher is better; 0 when no latent is left. ``matrix`` has
        the mutual information in nats, ``(n_latents, n_factors)``, ``details`` the
        modularity of each latent and the number of active ones.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> one_latent_each = factors.astype(float)
        >>> modularity_score(one_latent_each, factors)
        1.0
        >>> rotated = one_latent_each @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> modularity_score(rotated, factors)
        0.0

    References:
        Ridgeway and Mozer (2018), Learning Deep Disentangled Embeddings with the
        F-Statistic Loss, Section 3. https://arxiv.org/abs/1802.05312
    """
    codes, factors = read_inputs("modularity_score", codes, factors)
    check_count("modularity_score: bins", bins)
    check_option("modularity_score: latents", latents, ("all", "active"))
    information = mutual_information_matrix(bin_codes(codes, bins), factors)
    modularity = _per_latent(information)
    active = active_latents(codes)
    counted = modularity if latents == "all" else modularity[active]
    return Score(
        counted.mean() if len(counted) else 0.0,
        name="modularity",
        variant=latents,
        matrix=information,
        details={
            "n_active": active.sum(),
            **{f"latent_{j}": value for j, value in enumerate(modularity)},
        },
    )


def _per_latent(information: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = information**2
    best = squares.max(axis=1)
    others = squares.sum(axis=1) - best
    # One factor leaves no others: the share is 0 of what could be known, not 0 / 0.
    could_be = best * max(1, squares.shape[1] - 1)
    share = np.divide(others, could_be, out=np.ones_like(best), where=best > 0)
    return 1.0 - share
