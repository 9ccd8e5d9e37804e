"""Ground-truth distance correlation: are far factors far apart in latent space?"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import Correlation, check_option
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._score import Score

from ._pair_correlation import (
    Along,
    Norm,
    PairCorrelation,
    Pairs,
    RowDistance,
)

FactorScale = Literal["plain", "range"]
Cyclic = Literal["plain", "circular"]


def ground_truth_distance_correlation(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    along: Along = "factors",
    correlation: Correlation = "spearman",
    norm: Norm = "l1",
    factor_scale: FactorScale = "plain",
    cyclic: Cyclic = "plain",
    pairs: Pairs = "any",
    n_pairs: int = 2**17,
    seed: int = 0,
) -> Score:
    r"""Correlation of latent distances with distances between ground-truth factors.

    Take pairs of rows and compare how far apart their factors are with how far apart
    their codes are. One means that codes are ordered as the factors are; the codes may
    still be rotated, see :func:`axis_alignment_ratio`.

    .. math::
        s_i = \rho\bigl(\|y - y'\|_1, \|z - z'\|_1\bigr)
        \text{ over pairs along factor } i, \qquad
        s = \Bigl(\prod_i \max(s_i, 0)\Bigr)^{1/F}

    Pairs along a factor are rows that share all other factors exactly. Of an incomplete
    table those that occur are used, and a factor without any is left out and named in
    ``note``; rows with a missing label give no pair. Where all codes are equally far
    apart there is no correlation, which counts as 0 and is mentioned in ``note``.
    Constant and duplicate latents need no special treatment.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``.
        factors: Ground truth :math:`y`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Distances are differences of these values, of categorical factors too.
        along: ``"factors"``: pairs along each factor in turn, Eq. 4.2 and 4.3;
            ``"random"``: pairs of any two rows, Eq. 4.1.
        correlation: ``"spearman"`` correlates ranks, ``"pearson"`` distances.
        norm: Norm of latent differences. Ground-truth distances are always L1.
        factor_scale: ``"plain"`` values, Eq. 3.1, or each factor divided by its
            ``"range"``, Eq. 5.11; makes a difference to random pairs only.
        cyclic: Whether factors of that kind are compared by ``"plain"`` difference, as
            published, or by the shorter way round (``"circular"``), with their values
            taken as evenly spaced around the circle.
        pairs: ``"any"``: a row may be paired with itself, as published, which raises
            all scores, of noise too; ``"distinct"``: only different rows, which along
            a factor have different values of it.
        n_pairs: Number of pairs per factor, drawn at random; all if the grid is
            complete and has fewer.
        seed: Seed of the drawing.

    Returns:
        Along factors a score from 0 to 1: a negative correlation counts as 0 in the
        geometric mean, ``per_factor`` keeps its sign, and ``details`` has the plain
        ``arithmetic_mean``. Over random pairs from -1 to 1. Higher is better.

    Raises:
        ValueError: If no two rows differ in one factor only.

    Example:
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> ground_truth_distance_correlation(2.0 * factors, factors)
        1.0
        >>> curled = np.array([0.0, 1.0, 0.5])[factors]
        >>> score = ground_truth_distance_correlation(curled, factors)
        >>> round(score, 3), round(score.per_factor["factor_0"], 3)
        (0.657, 0.657)

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, section 4.1.1,
        Eq. 4.1 to 4.3. Departures: Eq. 4.3 has no value for negative correlations, here
        it has; distances that agree to 12 digits are ties.
    """
    caller = "ground_truth_distance_correlation"
    codes, factors = read_inputs(caller, codes, factors)
    check_option(f"{caller}: factor_scale", factor_scale, FactorScale)
    check_option(f"{caller}: cyclic", cyclic, Cyclic)
    settings = PairCorrelation(
        caller=caller,
        along=along,
        correlation=correlation,
        norm=norm,
        pairs=pairs,
        n_pairs=n_pairs,
        seed=seed,
    )
    reference = _factor_distance(factors, factor_scale, cyclic)
    name = "distance_correlation"
    variant = f"{settings.variant}, {factor_scale} factors, {cyclic} cycles"
    if along == "random":
        rows = np.flatnonzero(factors.known.all(axis=1))
        return settings.over_random_pairs(
            codes, rows, reference, name=name, variant=variant
        )
    return settings.along_factors(codes, factors, reference, name=name, variant=variant)


def _factor_distance(
    factors: Factors, factor_scale: FactorScale, cyclic: Cyclic
) -> RowDistance:
    spans = np.nanmax(factors.values, axis=0) - np.nanmin(factors.values, axis=0)
    periods = np.full(factors.n_factors, np.inf)
    for column, kind in enumerate(factors.kinds):
        if kind == "cyclic" and cyclic == "circular":
            known = factors.values[factors.known[:, column], column]
            n_values = len(np.unique(known))
            periods[column] = spans[column] * n_values / (n_values - 1)
    scales = np.ones(factors.n_factors)
    if factor_scale == "range":
        scales = np.minimum(spans, periods / 2)

    def distance(
        first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        apart = np.abs(factors.values[first] - factors.values[second])
        return (np.minimum(apart, periods - apart) / scales).sum(axis=1)

    return distance
