"""Most metrics agree, two pairs strongly, but not modularity."""

import itertools
from collections.abc import Callable

import numpy as np
import pandas as pd

from unbraid.reports import draw_rank_correlation
from unbraid.studies.analysis import PUBLISHED_METRICS, metric_agreement
from unbraid_claims import Claim, Evidence, Measured, above, rank_correlation, resampled

_STUDY = "dlib-2019"
_OTHERS = [name for name in PUBLISHED_METRICS if name != "modularity"]


def measure(evidence: Evidence) -> Measured:
    """Measure the rank correlations of the six metrics over all models."""
    table = evidence.table(_STUDY)
    scores = table.rename(columns=lambda name: name.removeprefix("score."))
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = []
    for quantity, expected, statistic, bound in (
        ("BetaVAE and FactorVAE score", "strongly correlated", _pair(0, 1), 0.5),
        ("MIG and DCI disentanglement", "strongly correlated", _pair(2, 3), 0.5),
        ("least pair without modularity", "mildly correlated", _least, 0.0),
        (
            "mean of all pairs without modularity, less mean of modularity's",
            "modularity correlates less",
            _apart,
            0.0,
        ),
    ):
        checks.append(
            above(
                f"rank correlation: {quantity}",
                resampled(scores, statistic, n_resamples=n_resamples),
                bound,
                expected=f"{expected}, above {bound:g}",
            )
        )
    pooled = metric_agreement(table, list(PUBLISHED_METRICS)).pooled
    figure = draw_rank_correlation(pooled, title="metrics, x 100")
    return Measured(checks=checks, figure=figure)


def _pair(first: int, second: int) -> Callable[[pd.DataFrame], float]:
    names = PUBLISHED_METRICS[first], PUBLISHED_METRICS[second]
    return lambda scores: rank_correlation(scores, *names)


def _least(scores: pd.DataFrame) -> float:
    return min(_others(scores))


def _apart(scores: pd.DataFrame) -> float:
    own = [rank_correlation(scores, "modularity", name) for name in _OTHERS]
    return float(np.mean(_others(scores)) - np.mean(own))


def _others(scores: pd.DataFrame) -> list[float]:
    pairs = itertools.combinations(_OTHERS, 2)
    return [rank_correlation(scores, *pair) for pair in pairs]


CLAIM = Claim(
    name="locatello-metric-agreement",
    source="Locatello et al. (2019), Figure 2",
    text="All metrics but modularity are at least mildly correlated; BetaVAE with "
    "FactorVAE score, and MIG with DCI disentanglement, strongly.",
    measure=measure,
    studies=(_STUDY,),
)
