"""Axis-alignment ratio: does a factor move only one latent?"""

from typing import Literal

from numpy.typing import ArrayLike

from unbraid.foundation import check_option
from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._traversal_spread import Spread, ratio_over_factors, rescale

Average = Literal["ratios", "variances"]


def axis_alignment_ratio(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    average: Average = "ratios",
    n_traversals: int = 1024,
    seed: int = 0,
) -> Score:
    r"""Share of the movement of codes along a factor that is along one latent.

    Let one factor run through its values while the others stay: the codes draw a path.
    The ratio is the variance of the latent that varies most as a share of all variance,
    rescaled so that latents that vary alike give 0 and one that varies alone gives 1.

    .. math::
        \tilde s_i = \mathbb{E}\Bigl[\max_k
        \frac{\mathrm{Var}[z_k]}{\sum_j \mathrm{Var}[z_j]}\Bigr], \qquad
        s_i = \frac{\tilde s_i - 1/D}{1 - 1/D}, \qquad
        s = \Bigl(\prod_i s_i\Bigr)^{1/F}

    Incomplete tables, missing labels, continuous factors and traversals along which
    nothing moves are treated as in :func:`linearity_ratio`. Constant and duplicate
    latents count in :math:`D`, as published; a duplicate halves the largest share.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``, at least two latents.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`.
        average: ``"ratios"`` of the traversals, Eq. 4.4, so that each may have its own
            latent; or ``"variances"`` over traversals before one ratio is taken, so
            that all must agree on the latent (the ``axis_ratio_ave`` of disent).
        n_traversals: Number of traversals per factor, drawn at random; all if there
            are fewer.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better. It is never above the
        :func:`linearity_ratio` of the same arguments. ``details`` has the plain
        ``arithmetic_mean`` over factors and ``traversals``, the smallest number of
        traversals that a factor has in the score.

    Raises:
        ValueError: If there is one latent only, or every factor has too few complete
            traversals.

    Example:
        >>> import numpy as np
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> axis_alignment_ratio(1.0 * factors, factors)
        1.0
        >>> rotated = factors @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> axis_alignment_ratio(rotated, factors)
        0.0

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, section 4.1.2,
        Eq. 4.4 to 4.6 and Figure 4.3.
    """
    check_option("axis_alignment_ratio: average", average, Average)
    return ratio_over_factors(
        "axis_alignment_ratio",
        codes,
        factors,
        axis_share if average == "ratios" else _share_of_mean_variance,
        name="axis_alignment",
        variant=f"mean of {average}",
        n_traversals=n_traversals,
        seed=seed,
    )


def axis_share(spread: Spread) -> float:
    """Return the mean rescaled share of the latent that varies most (Eq. 4.4, 4.5)."""
    return float(spread.weights @ spread.share(spread.latents.max(axis=1)))


def _share_of_mean_variance(spread: Spread) -> float:
    latents = spread.weights @ spread.latents
    if not latents.any():
        return 0.0
    return float(rescale(latents.max() / latents.sum(), len(latents)))
