"""Interventional robustness: does a latent stay constant if its factor does?"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_count, check_number
from unbraid.metrics._inputs import BINS, Factors, read_inputs, to_bins
from unbraid.metrics._score import Score


def interventional_robustness_score(
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    *,
    quantile: float = 0.99,
    factor_bins: int | None = BINS,
) -> Score:
    r"""Interventional robustness score (IRS) of a representation.

    Fix one factor at a value and let all others vary: a latent that encodes only this
    factor stays near its mean. Its deviation, averaged over values and divided by its
    largest deviation in all rows, is subtracted from one. Each latent counts with its
    best factor, weighted by its largest deviation.

    .. math::
        R_{jk} = 1 - \frac{\frac{1}{|V_k|} \sum_{u \in V_k} Q_q\{ |z_j -
        \mathrm{E}[z_j \mid v_k = u]| : v_k = u \}}{\max |z_j - \mathrm{E}[z_j]|},
        \qquad
        \frac{\sum_j w_j \max_k R_{jk}}{\sum_j w_j}, \quad w_j = \max |z_j - E[z_j]|

    Args:
        codes: Latent means :math:`z`, ``(n_rows, n_latents)``. Constant latents are
            left out; duplicate ones change only the weights. Weights are proportional
            to the scale of a latent, so rescaling one latent changes the score.
        factors: Ground truth :math:`v`, ``(n_rows, n_factors)``, or :class:`Factors`.
            Continuous factors are binned; for each factor, rows where it is missing
            are left out. A value seen in one row only has no deviation, so give enough
            rows for each value. Rows need not cover the grid, but where factors are
            dependent, fixing one also fixes others.
        quantile: Quantile of the deviations at one value, from 0 to 1. The paper uses
            the largest deviation, 1.0; disentanglement_lib uses 0.99.
        factor_bins: Equal-width bins for factors with more values than that, as in
            disentanglement_lib, or ``None`` for no bins.

    Returns:
        A score above -1 and up to 1, higher is better; 0 if all latents are constant.
        It is below 0 where latents stray farther from their mean at a value than they
        ever stray from the mean of all rows. That takes skewed latents, or few rows per
        value, as when a small table is shuffled. ``matrix`` has :math:`R`,
        ``(n_latents, n_factors)``, with zeros for constant latents, ``per_factor`` its
        largest value for each factor, ``details`` the number of active (not constant)
        latents and the score of each latent.

    Raises:
        ValueError: If ``quantile`` is not from 0 to 1, or the input is not as above.

    Example:
        >>> factors = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
        >>> interventional_robustness_score(factors.astype(float), factors)
        1.0

    References:
        Suter, Miladinovic, Schoelkopf and Bauer (2019), Robustly Disentangled Causal
        Mechanisms, on the disentanglement score. https://arxiv.org/abs/1811.00007
    """
    codes, factors = read_inputs("interventional_robustness_score", codes, factors)
    if factor_bins is not None:
        check_count("interventional_robustness_score: factor_bins", factor_bins)
    name = "interventional_robustness_score: quantile"
    check_number(name, quantile, least=0.0, most=1.0)
    largest = np.abs(codes - codes.mean(axis=0)).max(axis=0)
    # The mean of equal numbers can differ from them by rounding: compare the numbers.
    active = (codes != codes[0]).any(axis=0)
    latents = codes[:, active]
    robust = np.zeros((codes.shape[1], factors.n_factors))
    for k, labels in enumerate(factors.labels.T):
        known = np.flatnonzero(labels >= 0)
        groups = _groups(labels[known], factor_bins)
        deviation = _mean_deviation(latents, known, groups, quantile)
        robust[active, k] = 1.0 - deviation / largest[active]
    per_latent = robust.max(axis=1)
    return Score(
        np.average(per_latent[active], weights=largest[active]) if active.any() else 0,
        name="irs",
        variant=f"quantile {quantile:g}",
        per_factor=dict(zip(factors.names, robust.max(axis=0), strict=True)),
        matrix=robust,
        details={
            "n_active": active.sum(),
            **{f"latent_{j}": value for j, value in enumerate(per_latent)},
        },
    )


def _groups(labels: NDArray[np.int64], bins: int | None) -> NDArray[np.int64]:
    return labels if bins is None else to_bins(labels.astype(np.float64), bins)


def _mean_deviation(
    latents: NDArray[np.float64],
    known: NDArray[np.int64],
    groups: NDArray[np.int64],
    quantile: float,
) -> NDArray[np.float64]:
    """Return the quantile of deviations from the group mean, averaged over groups.

    Args:
        latents: Latents, ``(n_rows, n_latents)``.
        known: Rows that belong to a group, ``(n_known,)``.
        groups: Number of the group of each, ``(n_known,)``.
        quantile: Quantile of the deviations, from 0 to 1.
    """
    # numpy sorts integers of one or two bytes in linear time.
    small = groups.astype(np.min_scalar_type(int(groups.max())))
    order = np.argsort(small, kind="stable")
    starts = np.flatnonzero(np.diff(groups[order])) + 1
    total = np.zeros(latents.shape[1])
    for rows in np.split(known[order], starts):
        # Whole rows are taken, which lie together in memory, and then turned.
        block = np.ascontiguousarray(latents.take(rows, axis=0).T)
        block = np.abs(block - block.mean(axis=1, keepdims=True))
        total += np.quantile(block, quantile, axis=1, overwrite_input=True)
    return total / (len(starts) + 1)
