"""InfoM and InfoC: modularity and compactness by shares of information."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, check_option, numpy_generator
from unbraid.metrics._active import active_latents
from unbraid.metrics._information import entropy, mutual_information
from unbraid.metrics._inputs import Factors, read_inputs
from unbraid.metrics._neighbors import (
    NEIGHBORS,
    neighbor_information,
    without_ties,
)
from unbraid.metrics._score import Score
from unbraid.metrics._splits import split_rows

LatentKind = Literal["continuous", "discrete"]

N_ROWS = 10_000
"""Rows from which information is estimated, as in the paper."""


def infomodularity(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    latent_kind: LatentKind = "continuous",
    neighbors: int = NEIGHBORS,
    seed: int = 0,
) -> Score:
    r"""InfoM: does each latent have information about one factor only?

    Of the information of a latent about all factors, as shares of their entropies, take
    the part about its best factor; average over active latents, and rescale so that
    equal information about all factors gives 0. A latent with almost no information
    still has a best factor, so that noise does not score 0 but 0.3 or more: look at
    InfoE, too.

    .. math::
        \Bigl( \frac{1}{A} \sum_j \frac{\max_k N_{jk}}{\sum_k N_{jk}} - \frac{1}{K}
        \Bigr) / \Bigl( 1 - \frac{1}{K} \Bigr), \quad
        N_{jk} = \frac{I(z_j; v_k)}{H(v_k)}

    Args:
        codes: Latents :math:`z`, ``(n_rows, n_latents)``; more than 10,000 rows are
            sampled. Only the active ones count: those whose range is above a twentieth
            of the widest, or, if discrete, that vary. A duplicate latent changes
            only the average. An active latent without information counts as if it had
            equal information about all factors.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out. With a single factor the score is the share of active latents
            that have any information about it.
        latent_kind: Kind of the latents. Information is estimated from nearest
            neighbors for ``"continuous"`` latents, and from relative frequencies for
            ``"discrete"`` ones.
        neighbors: Number of nearest neighbors, at least 1.
        seed: Seed of the rows and of the noise that breaks ties.

    Returns:
        A score from 0 to 1, higher is better; 0 if no latent is active. ``matrix`` has
        :math:`N`, ``(n_latents, n_factors)``, ``details`` the number of active latents.

    Example:
        >>> factors = np.indices((4, 4)).reshape(2, -1).T.repeat(50, axis=0)
        >>> infomodularity(1.0 * factors, factors, latent_kind="discrete")
        1.0

    References:
        Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via Latent
        Quantization, on InfoMEC. https://arxiv.org/abs/2305.18378
    """
    shares, active, _ = _shares_and_active(
        "infomodularity", codes, factors, latent_kind, neighbors, seed
    )
    return Score(
        _concentration(shares[active]).mean() if active.any() else 0.0,
        name="infom",
        variant=latent_kind,
        matrix=shares,
        details={"n_active": active.sum()},
        seed=seed,
    )


def infocompactness(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    latent_kind: LatentKind = "continuous",
    neighbors: int = NEIGHBORS,
    seed: int = 0,
) -> Score:
    r"""InfoC: does only one latent have information about each factor?

    Of the information of all latents about a factor, take the part of its best latent;
    average over factors, and rescale so that equal information in all latents gives 0.

    .. math::
        \Bigl( \frac{1}{K} \sum_k \frac{\max_j N_{jk}}{\sum_j N_{jk}} - \frac{1}{A}
        \Bigr) / \Bigl( 1 - \frac{1}{A} \Bigr), \quad
        N_{jk} = \frac{I(z_j; v_k)}{H(v_k)}

    Args:
        codes: Latents :math:`z`, ``(n_rows, n_latents)``, as in :func:`infomodularity`;
            only the :math:`A` active ones count. A duplicate halves the part of the
            best. With a single active latent the score is the share of factors about
            which it has any information.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`,
            as in :func:`infomodularity`. A factor about which no latent has information
            counts as if all had the same.
        latent_kind: Kind of the latents, as in :func:`infomodularity`.
        neighbors: Number of nearest neighbors, at least 1.
        seed: Seed of the rows and of the noise that breaks ties.

    Returns:
        A score from 0 to 1, higher is better; 0 if no latent is active. ``per_factor``
        has the terms of the sum, rescaled, ``matrix`` :math:`N`, ``(n_latents,
        n_factors)``, ``details`` the number of active latents.

    Example:
        >>> factors = np.indices((4, 4)).reshape(2, -1).T.repeat(50, axis=0)
        >>> infocompactness(1.0 * factors, factors, latent_kind="discrete")
        1.0

    References:
        Hsu, Dorrell, Whittington, Wu and Finn (2023), Disentanglement via Latent
        Quantization, on InfoMEC. https://arxiv.org/abs/2305.18378
    """
    shares, active, factors = _shares_and_active(
        "infocompactness", codes, factors, latent_kind, neighbors, seed
    )
    compact = (
        _concentration(shares[active].T)
        if active.any()
        else np.zeros(factors.n_factors)
    )
    return Score(
        compact.mean(),
        name="infoc",
        variant=latent_kind,
        per_factor=dict(zip(factors.names, compact, strict=True)),
        matrix=shares,
        details={"n_active": active.sum()},
        seed=seed,
    )


def _shares_and_active(
    caller: str,
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    latent_kind: LatentKind,
    neighbors: int,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.bool_], Factors]:
    """Return information as a share of entropy, active latents, and the factors."""
    check_option(f"{caller}: latent_kind", latent_kind, LatentKind)
    check_count(f"{caller}: neighbors", neighbors)
    codes, factors = read_inputs(caller, codes, factors)
    generator = numpy_generator(seed, "infomec")
    rows = split_rows(len(codes), n_train=N_ROWS, n_test=0, generator=generator).train
    codes, factors = codes[rows], factors.at(rows)
    if latent_kind == "discrete":
        active = active_latents(codes, share=0.0)
        values = [np.unique(latent, return_inverse=True)[1] for latent in codes.T]
        return _shares(values, factors, mutual_information), active, factors
    estimate = partial(neighbor_information, neighbors=neighbors)
    shares = _shares(list(without_ties(codes, generator).T), factors, estimate)
    # The noise that breaks ties must not give a constant latent any information.
    shares[np.ptp(codes, axis=0) == 0] = 0.0
    return shares, active_latents(codes), factors


def _shares(
    latents: Sequence[NDArray[Any]],
    factors: Factors,
    information: Callable[[NDArray[Any], NDArray[np.int64]], float],
) -> NDArray[np.float64]:
    table = np.zeros((len(latents), factors.n_factors))
    for k, labels in enumerate(factors.labels.T):
        known = labels >= 0
        # A rare value may be missing in the sample, which leaves no entropy.
        if known.any() and (own := entropy(labels[known])) > 0:
            of_latents = [information(z[known], labels[known]) for z in latents]
            table[:, k] = np.array(of_latents) / own
    return table


def _concentration(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of the largest entry of each row, rescaled to start at 0."""
    width, best = shares.shape[1], shares.max(axis=1)
    if width == 1:
        return (best > 0).astype(np.float64)
    even = np.full(len(shares), 1 / width)
    part = np.divide(best, shares.sum(axis=1), out=even, where=best > 0)
    return (part - 1 / width) / (1 - 1 / width)
