"""Are codes less correlated the stronger the regularisation?"""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._rank_correlation import correlate_ranks
from ._strengths import strengths
from ._table import done_runs, find_scores, require_columns, values_of

_SCORES = {
    "mean_codes": "gaussian_total_correlation",
    "sampled_codes": "sampled_gaussian_total_correlation",
}
_TREND_COLUMNS = ["data", "method", *_SCORES]
_LEVEL_COLUMNS = [
    *("data", "method", "strength_rank", "strength", "n_runs"),
    *("mean_codes", "mean_codes_spread", "sampled_codes", "sampled_codes_spread"),
]


@dataclass(frozen=True, eq=False)
class TotalCorrelationByStrength:
    """Total correlation of mean and sampled codes.

    Attributes:
        levels: A row per dataset, method and strength: ``data``, ``method``,
            ``strength_rank``, ``strength``, ``n_runs``, and for mean and sampled codes
            the mean over seeds and the standard deviation, ``mean_codes``,
            ``mean_codes_spread``, ``sampled_codes``, ``sampled_codes_spread``.
        trends: A row per dataset and method: rank correlation of the strength with the
            total correlation of ``mean_codes`` and of ``sampled_codes`` over runs, NaN
            where there is one strength only.
        n_left_out: Runs of the table that are not done, or have neither number.
    """

    levels: pd.DataFrame
    trends: pd.DataFrame
    n_left_out: int


def total_correlation_by_strength(table: pd.DataFrame) -> TotalCorrelationByStrength:
    r"""Total correlation of mean against sampled codes, by method and strength.

    Many methods make the latents of *sampled* codes independent, but it is the *means*
    that are used afterwards. Both are taken for Gaussian with covariance
    :math:`\Sigma`, so that their total correlation in nats is

    .. math::
        \frac12 \Bigl( \sum_j \log \Sigma_{jj} - \log \det \Sigma \Bigr)

    Args:
        table: One row per run, with the columns ``data``, ``objective.name``, the
            settings that vary, ``score.gaussian_total_correlation`` (mean codes) and
            ``score.sampled_gaussian_total_correlation``. Runs that are not ``done`` in
            the column ``status`` are left out.

    Returns:
        Levels for drawing, and whether they rise (1) or fall (-1) with the strength.
        With ``annealed_vae``, a larger capacity is less regularisation.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares", "objective.name": "beta_vae",
        ...     "objective.beta": [1.0, 2.0, 4.0],
        ...     "score.gaussian_total_correlation": [0.1, 0.2, 0.4],
        ...     "score.sampled_gaussian_total_correlation": [0.3, 0.2, 0.1],
        ... })
        >>> total_correlation_by_strength(table).trends.round(6)
                 data    method  mean_codes  sampled_codes
        0  xy_squares  beta_vae         1.0           -1.0

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 5.1 and Figure 1, which leaves
        out AnnealedVAE. https://arxiv.org/abs/1811.12359
    """
    caller = "total_correlation_by_strength"
    require_columns(caller, table, ["data", "objective.name"])
    found = find_scores(caller, table, list(_SCORES.values()), ())
    runs, scores = done_runs(strengths(table), found)
    datasets, methods = values_of(runs, "data"), values_of(runs, "method")
    ranks, values = values_of(runs, "strength_rank"), values_of(runs, "strength")
    levels, trends = [], []
    for data, method in sorted(set(zip(datasets, methods, strict=True))):
        rows = np.flatnonzero((datasets == data) & (methods == method))
        where = {"data": data, "method": method}
        trends.append(where | _trend(ranks[rows], scores, rows))
        for rank in sorted(set(ranks[rows])):
            some = rows[ranks[rows] == rank]
            strength = {"strength_rank": rank, "strength": values[some[0]]}
            levels.append(where | strength | _level(scores, some))
    return TotalCorrelationByStrength(
        levels=pd.DataFrame(levels, columns=_LEVEL_COLUMNS),
        trends=pd.DataFrame(trends, columns=_TREND_COLUMNS),
        n_left_out=len(table) - len(runs),
    )


def _level(
    scores: dict[str, NDArray[np.float64]], rows: NDArray[np.int64]
) -> dict[str, float]:
    """Means and spreads over runs with the same strength."""
    level: dict[str, float] = {"n_runs": len(rows)}
    for codes, name in _SCORES.items():
        known = scores[name][rows]
        # Infinite ones, of codes that are functions of each other, have no mean.
        known = known[np.isfinite(known)]
        level[codes] = float(known.mean()) if len(known) else math.nan
        spread = float(known.std(ddof=1)) if len(known) > 1 else math.nan
        level[f"{codes}_spread"] = spread
    return level


def _trend(
    ranks: NDArray[np.object_],
    scores: dict[str, NDArray[np.float64]],
    rows: NDArray[np.int64],
) -> dict[str, float]:
    trend = {}
    for codes, name in _SCORES.items():
        pair = ranks.astype(np.float64), scores[name][rows]
        one_group = np.zeros(len(rows))
        trend[codes], _, _ = correlate_ranks(("strength", codes), pair, one_group)
    return trend
