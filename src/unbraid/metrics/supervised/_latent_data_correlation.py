"""Latent-to-data correlation: do latent distances mimic distances between images?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import Correlation
from unbraid.metrics._inputs import Factors, read_codes, read_inputs
from unbraid.metrics._score import Score

from ._pair_correlation import (
    Along,
    Norm,
    PairCorrelation,
    Pairs,
    RowDistance,
    latent_distances,
)


def latent_data_correlation(
    codes: ArrayLike,
    factors: ArrayLike | Factors | None,
    distance: ArrayLike | RowDistance,
    *,
    along: Along = "factors",
    correlation: Correlation = "spearman",
    norm: Norm = "l1",
    pairs: Pairs = "any",
    n_pairs: int = 2**14,
    seed: int = 0,
) -> Score:
    r"""Correlation of latent distances with perceived distances between observations.

    A VAE places images near each other that its reconstruction loss takes for alike.
    One means that it did so perfectly; together with how well perceived distances agree
    with the ground truth, this bounds what the model can disentangle.

    .. math::
        s_i = \rho\bigl(d(x, x'), \|z - z'\|_1\bigr)
        \text{ over pairs along factor } i, \qquad
        s = \Bigl(\prod_i \max(s_i, 0)\Bigr)^{1/F}

    Pairs are the ones of :func:`ground_truth_distance_correlation` with the same seed
    and number of pairs, with its ways for incomplete tables, missing labels and codes
    that do not vary.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`; only tells
            which rows form pairs. ``None`` if ``along="random"`` and nothing is known.
        distance: The observations themselves, ``(n_rows, ...)``, compared by mean
            squared error; or a function from the rows of the first and of the second
            of each pair, ``(n,)`` each, to their distances, ``(n,)``.
        along: Pairs along each factor in turn (``"factors"``), or any (``"random"``).
        correlation: Of ranks (``"spearman"``) or of the distances (``"pearson"``).
        norm: Of latent differences.
        pairs: ``"any"``: a row may be paired with itself, as published; ``"distinct"``:
            only different rows, which along a factor have different values of it.
        n_pairs: Pairs drawn per factor; all are used, and nothing is random, if the
            grid is complete and has no more than that.
        seed: Seed of the drawing.

    Returns:
        Along factors a score from 0 to 1 (geometric mean of correlations, a negative
        one counting as 0), over random pairs from -1 to 1. Higher is closer.

    Raises:
        ValueError: If no two rows differ in one factor only, or the function gives
            something other than one finite distance per pair.

    Example:
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> images = np.eye(3)[factors].cumsum(axis=-1)
        >>> latent_data_correlation(2.0 * factors, factors, images)
        1.0

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, section 4.3,
        Eq. 4.10, combined as in Eq. 4.3. The distance is that of Eq. 3.3.
    """
    who = "latent_data_correlation"
    if factors is None and along == "factors":
        raise ValueError(
            f"{who}: expected factors to find pairs along them, got None. Take "
            "along='random' for data without labels."
        )
    settings = PairCorrelation(
        who=who,
        along=along,
        correlation=correlation,
        norm=norm,
        pairs=pairs,
        n_pairs=n_pairs,
        seed=seed,
    )
    codes = read_codes(who, codes)
    reference = _checked(who, distance, len(codes))
    name, variant = "latent_data_correlation", settings.variant
    if factors is None or along == "random":
        rows = np.arange(len(codes))
        return settings.over_random_pairs(
            codes, rows, reference, name=name, variant=variant
        )
    codes, factors = read_inputs(who, codes, factors)
    return settings.along_factors(codes, factors, reference, name=name, variant=variant)


def _checked(who: str, distance: ArrayLike | RowDistance, n_rows: int) -> RowDistance:
    """A function of pairs that gives one finite distance for each."""
    measure = distance if callable(distance) else _squared_error(who, distance, n_rows)

    def checked(
        first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        distances = np.asarray(measure(first, second), dtype=np.float64)
        if distances.shape != first.shape or not np.isfinite(distances).all():
            raise ValueError(
                f"{who}: expected one finite distance for each of {len(first)} pairs, "
                f"got shape {distances.shape} with "
                f"{int((~np.isfinite(distances)).sum())} NaN or infinite."
            )
        return distances

    return checked


def _squared_error(who: str, observations: ArrayLike, n_rows: int) -> RowDistance:
    array = np.asarray(observations)
    if array.ndim < 1 or len(array) != n_rows or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{who}: expected observations as numbers ({n_rows}, ...), one per row of "
            f"codes, or a function, got shape {array.shape} of {array.dtype}."
        )
    flat = array.reshape(n_rows, -1)

    def mean_squared_error(
        first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        return latent_distances(flat, first, second, "l2") ** 2 / flat.shape[1]

    return mean_squared_error
