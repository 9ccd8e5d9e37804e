"""Linearity ratio: does a factor move the codes along a straight line?"""

from numpy.typing import ArrayLike

from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._traversal_spread import Spread, ratio_over_factors


def linearity_ratio(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    n_traversals: int = 1024,
    seed: int = 0,
) -> Score:
    r"""Share of the movement of codes along a factor that is in one direction.

    Let one factor run through its values while the others stay: the codes draw a path.
    The ratio is the variance along the path's first principal direction as a share of
    all variance, rescaled so that an even spread over all directions is 0 and a
    straight line, in whatever direction, is 1.

    .. math::
        \tilde s_i = \mathbb{E}\Bigl[\frac{\lambda_1}{\sum_j \lambda_j}\Bigr], \qquad
        s_i = \frac{\tilde s_i - 1/D}{1 - 1/D}, \qquad
        s = \Bigl(\prod_i s_i\Bigr)^{1/F}

    A traversal is the set of rows that share all other factors exactly. Only complete
    ones count, which have every value that the factor has in the table: two points
    always lie on a line, so that a traversal with gaps looks straighter than it is. A
    factor needs ten complete traversals, or fewer if all rows lie on one. Factors that
    have too few are left out, ``factors_used`` counts the others, and ``note`` names
    those left out. A random sample of a large grid has hardly any complete traversal:
    :func:`unbraid.evaluate` with a model and a dataset draws whole ones. Rows with a
    missing label belong to no traversal. A traversal along which no code moves counts
    as 0. Constant and duplicate latents count in :math:`D`, as published.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``, at least two latents.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`.
        n_traversals: Number of traversals per factor, drawn at random; all if there
            are fewer.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better. It is never below the
        :func:`axis_alignment_ratio` of the same arguments. ``details`` has the plain
        ``arithmetic_mean`` over factors and ``traversals``, the smallest number of
        traversals that a factor has in the score.

    Raises:
        ValueError: If there is one latent only, or every factor has too few complete
            traversals.

    Example:
        >>> import numpy as np
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> rotated = factors @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> round(linearity_ratio(rotated, factors), 12)
        1.0
        >>> circle = np.array([[1.0, 0.0], [-0.5, 0.75**0.5], [-0.5, -(0.75**0.5)]])
        >>> round(linearity_ratio(circle, [0, 1, 2]), 12)
        0.0

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, section 4.1.3,
        Eq. 4.7 to 4.9 and Figure 4.3.
    """
    return ratio_over_factors(
        "linearity_ratio",
        codes,
        factors,
        linear_share,
        name="linearity",
        n_traversals=n_traversals,
        seed=seed,
    )


def linear_share(spread: Spread) -> float:
    """Return the mean rescaled share of the main direction (Eq. 4.7 and 4.8)."""
    return float(spread.weights @ spread.share(spread.main))
