"""Intervals of scores and of their differences, from replicates."""

import math
from collections.abc import Sequence

import numpy as np

from ._metric import Metric
from ._score import Score
from ._tasks import REPLICATES, Table, replicate_rows, varies_by_seed

_CONFIDENCE = 0.95


def score_interval(
    score: Score, replicates: Sequence[float], metric: Metric, table: Table
) -> tuple[float, float] | None:
    """Return the interval of another evaluation, or ``None`` if it is unknown.

    Args:
        score: Score of the whole table.
        replicates: Scores of parts of the table, or with other seeds.
        metric: Metric of the score.
        table: Table that was scored.
    """
    value = float(score)
    spread = _spread(value, replicates, metric, table)
    if spread is None:
        return None
    spread = max(spread, _counting_spread(score))
    # The other evaluation varies as much as this one.
    width = _quantile() * math.sqrt(2) * spread
    # A score outside of its bounds is an error of the metric, which is not hidden.
    low, high = metric.range(table.codes.shape[1])
    return max(min(low, value), value - width), min(max(high, value), value + width)


def difference_interval(
    scores: tuple[Score, Score],
    replicates: Sequence[tuple[float, float]],
    metric: Metric,
    table: Table,
) -> tuple[float, float] | None:
    """Return the interval of a difference, second minus first, from paired replicates.

    Both scores of a pair are those of the same rows with the same seed, so that what
    they have in common cancels.

    Args:
        scores: Scores of the whole tables.
        replicates: Pairs of scores of the same parts of both tables.
        metric: Metric of the scores.
        table: One of the tables.
    """
    value = float(scores[1]) - float(scores[0])
    differences = [second - first for first, second in replicates]
    spread = _spread(value, differences, metric, table)
    if spread is None:
        return None
    spread = max(spread, math.hypot(*(_counting_spread(score) for score in scores)))
    width = _quantile() * spread
    return value - width, value + width


def _spread(
    value: float, replicates: Sequence[float], metric: Metric, table: Table
) -> float | None:
    """Return the standard deviation over other tables of the same size."""
    n_rows = len(table.codes)
    if len(replicates) < REPLICATES or not np.isfinite([value, *replicates]).all():
        return None
    spread = float(np.std(replicates, ddof=1))
    if spread == 0 and metric.rows == "traversals" and not table.is_grid:
        return None  # all replicates used the same traversals
    if not varies_by_seed(metric, n_rows):
        rows = replicate_rows(n_rows)
        # Parts without replacement vary by 1/m - 1/n, new samples by 1/n.
        spread *= math.sqrt(rows / (n_rows - rows))
    return spread


def _quantile() -> float:
    from scipy.special import stdtrit  # slow to import

    return float(stdtrit(REPLICATES - 1, (1 + _CONFIDENCE) / 2))


def _counting_spread(score: Score) -> float:
    """Return the smallest spread of a share of test cases, even if all are right.

    References:
        Agresti and Coull (1998), Approximate Is Better than "Exact" for Interval
        Estimation of Binomial Proportions: two cases more of either kind.
    """
    n_cases = score.details.get("n_test")
    if n_cases is None:
        return 0.0
    cautious = (float(score) * n_cases + 2.0) / (n_cases + 4.0)
    return math.sqrt(cautious * (1.0 - cautious) / n_cases)
