"""Do the metrics agree on which model is better?"""

from collections.abc import Sequence

import pandas as pd

from ._own_scores import default_metrics
from ._rank_correlation import RankAgreement, measure_agreement
from ._table import find_scores


def metric_agreement(
    table: pd.DataFrame, scores: Sequence[str] | None = None
) -> RankAgreement:
    r"""Rank correlation between metrics, in each dataset and pooled.

    Metrics that measure the same put models in the same order. Spearman's coefficient
    is 1 for the same order, -1 for the opposite one, and about 0 for unrelated ones:

    .. math::
        \rho(a, b) = \operatorname{corr}(\operatorname{rank} a, \operatorname{rank} b)

    The pooled number takes ranks within each dataset, so that it does not rise because
    one dataset is easier by all metrics.

    Args:
        table: One row per run, with the columns ``data`` and ``score.<name>``. Runs
            that are not ``done`` in the column ``status`` are left out.
        scores: Names of at least one score; all metrics that the table has when not
            given, also those of other packages and of the user's own files.

    Returns:
        Square, symmetric tables with ones on the diagonal, NaN with a reason for scores
        that never vary; and the scores themselves.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares", "score.mig": [0.1, 0.2, 0.4],
        ...     "score.sap": [0.0, 0.1, 0.3], "score.irs": [0.9, 0.5, 0.4],
        ... })
        >>> metric_agreement(table).by_dataset["xy_squares"].values.round(6)
             mig  sap  irs
        mig  1.0  1.0 -1.0
        sap  1.0  1.0 -1.0
        irs -1.0 -1.0  1.0

    References:
        Locatello, Bauer, Lucic, Rätsch, Gelly, Schölkopf and Bachem (2019), Challenging
        Common Assumptions in the Unsupervised Learning of Disentangled Representations,
        section 5.2 and Figure 2. https://arxiv.org/abs/1811.12359
    """
    found = find_scores("metric_agreement", table, scores, default_metrics(table))
    return measure_agreement("metric_agreement", table, found, found)
