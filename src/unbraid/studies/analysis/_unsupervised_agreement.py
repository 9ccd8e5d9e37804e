"""Can a good model be told without labels?"""

from collections.abc import Sequence

import pandas as pd

from ._own_scores import default_metrics
from ._rank_correlation import RankAgreement, measure_agreement
from ._table import UNSUPERVISED_SCORES, find_scores


def unsupervised_agreement(
    table: pd.DataFrame,
    scores: Sequence[str] | None = None,
    *,
    unsupervised: Sequence[str] | None = None,
) -> RankAgreement:
    """Rank correlation of scores that need no labels with metrics that do.

    A score that puts models in the same order as a metric could choose a model in its
    place. The coefficient is that of :func:`metric_agreement`; the scores are taken as
    they are, so that a useful loss or correlation has a negative one.

    Args:
        table: One row per run, with the columns ``data``, ``score.<name>`` and
            ``final.<term>``. Runs that are not ``done`` in the column ``status`` are
            left out.
        scores: Names of metrics, all that the table has when not given.
        unsupervised: Names of scores without labels, all that the table has when not
            given: evidence lower bound, reconstruction, divergence, total correlation
            and Wasserstein correlation of mean and of sampled codes, and others.

    Returns:
        A row per score without labels, a column per metric.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares", "score.mig": [0.1, 0.2, 0.4, 0.3],
        ...     "final.elbo": [-8.0, -7.0, -5.0, -6.0],
        ...     "final.reconstruction": [4.0, 3.0, 1.0, 2.0],
        ... })
        >>> unsupervised_agreement(table).pooled.values.round(6)
                        mig
        elbo            1.0
        reconstruction -1.0

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 5.4 and Figure 4.
        https://arxiv.org/abs/1811.12359
    """
    caller = "unsupervised_agreement"
    rows = find_scores(caller, table, unsupervised, UNSUPERVISED_SCORES)
    columns = find_scores(caller, table, scores, default_metrics(table))
    return measure_agreement(caller, table, rows, columns)
