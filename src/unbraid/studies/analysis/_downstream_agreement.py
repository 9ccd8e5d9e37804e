"""Do better metrics mean easier downstream tasks?"""

from collections.abc import Sequence

import pandas as pd

from ._own_scores import default_metrics
from ._rank_correlation import RankAgreement, measure_agreement
from ._table import DOWNSTREAM_SCORES, find_scores


def downstream_agreement(
    table: pd.DataFrame,
    scores: Sequence[str] | None = None,
    *,
    downstream: Sequence[str] | None = None,
) -> RankAgreement:
    r"""Rank correlation of downstream accuracy and efficiency with each metric.

    Accuracy says how well predictors learn the factors from the codes. Statistical
    efficiency is accuracy from 100 labels over accuracy from 10,000, which should be
    high if disentanglement makes learning easier. The coefficient is that of
    :func:`metric_agreement`.

    Args:
        table: One row per run, with the columns ``data`` and ``score.<name>``. Runs
            that are not ``done`` in the column ``status`` are left out.
        scores: Names of metrics, all that the table has when not given.
        downstream: Names of downstream scores; when not given, those of
            ``downstream_accuracy`` and ``statistical_efficiency`` that the table has.

    Returns:
        A row per downstream score, a column per metric; ``runs`` has the points of the
        scatter plots.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares", "score.mig": [0.1, 0.2, 0.3],
        ...     "score.downstream_accuracy": [0.5, 0.6, 0.9],
        ...     "score.statistical_efficiency": [0.9, 0.8, 0.7],
        ... })
        >>> downstream_agreement(table).pooled.values.round(6)
                                mig
        downstream_accuracy     1.0
        statistical_efficiency -1.0

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 5.5 and Figures 5 and 6.
        https://arxiv.org/abs/1811.12359
    """
    caller = "downstream_agreement"
    rows = find_scores(caller, table, downstream, DOWNSTREAM_SCORES)
    columns = find_scores(caller, table, scores, default_metrics(table))
    return measure_agreement(caller, table, rows, columns)
