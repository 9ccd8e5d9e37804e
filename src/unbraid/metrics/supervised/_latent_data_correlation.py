"""Latent-to-data correlation: do latent distances mimic distances between images?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import Correlation, check_finite, check_shape
from unbraid.metrics._inputs import Factors, read_codes, read_inputs
from unbraid.metrics._observation_distance import ObservationDistance
from unbraid.metrics._score import Score

from ._pair_correlation import (
    Along,
    Norm,
    PairCorrelation,
    Pairs,
    RowDistance,
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

    A VAE encodes images close to each other if its reconstruction loss between them is
    small. A score of 1 means that it did so perfectly; together with the agreement of
    perceived distances with the ground truth, this bounds what the model can
    disentangle.

    .. math::
        s_i = \rho\bigl(d(x, x'), \|z - z'\|_1\bigr)
        \text{ over pairs along factor } i, \qquad
        s = \Bigl(\prod_i \max(s_i, 0)\Bigr)^{1/F}

    Pairs are the ones of :func:`ground_truth_distance_correlation` with the same seed
    and number of pairs, and incomplete tables, missing labels and codes that do not
    vary are treated in the same way.

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``.
        factors: Ground truth, ``(n_rows, n_factors)``, or :class:`Factors`, which
            determine the pairs. May be ``None`` if ``along="random"``.
        distance: The observations themselves, ``(n_rows, ...)``, compared by mean
            squared error; or a function from the rows of the first and of the second
            of each pair, ``(n,)`` each, to their distances, ``(n,)``.
        along: Pairs along each factor in turn (``"factors"``), or any (``"random"``).
        correlation: ``"spearman"`` correlates ranks, ``"pearson"`` distances.
        norm: Norm of latent differences.
        pairs: ``"any"``: a row may be paired with itself, as published; ``"distinct"``:
            only different rows, which along a factor have different values of it.
        n_pairs: Number of pairs per factor, drawn at random; all if the grid is
            complete and has fewer.
        seed: Seed of the drawing.

    Returns:
        Along factors a score from 0 to 1 (geometric mean of correlations, a negative
        one counting as 0), over random pairs from -1 to 1. Higher is closer.

    Raises:
        ValueError: If no two rows differ in one factor only, or the function does not
            return one finite distance per pair.

    Example:
        >>> factors = np.array([[x, y] for x in range(3) for y in range(3)])
        >>> images = np.eye(3)[factors].cumsum(axis=-1)
        >>> latent_data_correlation(2.0 * factors, factors, images)
        1.0

    References:
        Michlo (2022), dissertation, University of the Witwatersrand, section 4.3,
        Eq. 4.10, combined as in Eq. 4.3. The distance is that of Eq. 3.3.
    """
    caller = "latent_data_correlation"
    if factors is None and along == "factors":
        raise ValueError(
            f"{caller}: factors must be given if along='factors', got None. Use "
            "along='random' for data without labels."
        )
    settings = PairCorrelation(
        caller=caller,
        along=along,
        correlation=correlation,
        norm=norm,
        pairs=pairs,
        n_pairs=n_pairs,
        seed=seed,
    )
    codes = read_codes(caller, codes)
    reference = _check_distance(caller, distance, len(codes))
    name, variant = "latent_data_correlation", settings.variant
    if factors is None or along == "random":
        rows = np.arange(len(codes))
        return settings.over_random_pairs(
            codes, rows, reference, name=name, variant=variant
        )
    codes, factors = read_inputs(caller, codes, factors)
    return settings.along_factors(codes, factors, reference, name=name, variant=variant)


def _check_distance(
    caller: str, distance: ArrayLike | RowDistance, n_rows: int
) -> RowDistance:
    """Return a function of pairs that checks their distances."""
    measure = (
        distance if callable(distance) else _squared_error(caller, distance, n_rows)
    )

    def checked(
        first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        distances = np.asarray(measure(first, second), dtype=np.float64)
        check_shape(f"{caller}: distances", distances, first.shape)
        check_finite(f"{caller}: distances", distances)
        return distances

    return checked


def _squared_error(caller: str, observations: ArrayLike, n_rows: int) -> RowDistance:
    array = np.asarray(observations)
    if array.ndim < 1 or len(array) != n_rows or array.dtype.kind not in "biuf":
        raise ValueError(
            f"{caller}: distance must be a function, or numbers of shape ({n_rows}, "
            f"...), got shape {array.shape} of {array.dtype}."
        )
    return ObservationDistance(array, np.arange(n_rows))
