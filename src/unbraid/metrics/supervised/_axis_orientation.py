"""Axis-orientation ratio: how well a factor's direction agrees with a latent."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from unbraid.foundation import check_option
from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._axis_alignment import axis_share
from ._linearity import linear_share
from ._traversal_spread import Spread, ratio_over_factors

Quotient = Literal["scores", "traversals"]


def axis_orientation_ratio(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    quotient: Quotient = "scores",
    n_traversals: int = 1024,
    seed: int = 0,
) -> Score:
    r"""Axis alignment as a share of the linearity that bounds it.

    Axis alignment is low both for crooked paths and for straight ones at an angle; this
    quotient measures the angle alone. For a Gaussian cloud in two latents it is
    :math:`|\cos 2\theta|`, whatever its width.

    .. math:: s = s_{\mathrm{axis}} / s_{\mathrm{linear}}

    Incomplete tables, missing labels and codes that do not move are treated as in
    :func:`linearity_ratio`. Without any linearity there is no direction, which counts
    as 0 and is said in ``note``.

    Args:
        codes: Latent means, ``(n_rows, n_latents)``, at least two latents.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`.
        quotient: ``"scores"`` divides the two scores, Eq. A.1; ``"traversals"`` divides
            the values of each traversal before averaging (the ``axis_alignment`` of
            disent).
        n_traversals: Number of traversals per factor, drawn at random; all if there
            are fewer.
        seed: Seed of the drawing.

    Returns:
        A score from 0 to 1, higher is better. ``details`` of ``"scores"`` has the two
        parts as ``axis_alignment`` and ``linearity``.

    Raises:
        ValueError: If there is one latent only, or every factor has too few complete
            traversals.

    Example:
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> axis_orientation_ratio(1.0 * factors, factors)
        1.0
        >>> rotated = factors @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> axis_orientation_ratio(rotated, factors)
        0.0

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, appendix A.1,
        Eq. A.1.
    """
    caller = "axis_orientation_ratio"
    check_option(f"{caller}: quotient", quotient, Quotient)
    if quotient == "traversals":
        return ratio_over_factors(
            caller,
            codes,
            factors,
            _mean_quotient,
            name="axis_orientation",
            variant="quotient of traversals",
            n_traversals=n_traversals,
            seed=seed,
        )
    axis, linear = (
        ratio_over_factors(
            caller,
            codes,
            factors,
            share,
            name="axis_orientation",
            n_traversals=n_traversals,
            seed=seed,
        )
        for share in (axis_share, linear_share)
    )
    parts = {"axis_alignment": axis, "linearity": linear}
    notes = [linear.note] if linear.note else []
    if linear == 0.0:
        notes.append("0 for no linearity")
    return Score(
        axis / linear if linear > 0.0 else 0.0,
        name="axis_orientation",
        variant="quotient of scores",
        per_factor={
            factor: value / linear.per_factor[factor] if value > 0.0 else 0.0
            for factor, value in axis.per_factor.items()
        },
        factors_used=linear.factors_used,
        details=parts,
        seed=seed,
        note="; ".join(notes),
    )


def _mean_quotient(spread: Spread) -> float:
    axis = spread.share(spread.latents.max(axis=1))
    linear = spread.share(spread.main)
    quotient = np.divide(axis, linear, out=np.zeros_like(axis), where=linear > 0.0)
    return float(spread.weights @ np.minimum(quotient, 1.0))
