"""Downstream tasks do not need fewer labels with disentangled codes."""

import numpy as np
import pandas as pd

from unbraid.reports import draw_rank_correlation
from unbraid.studies.analysis import PUBLISHED_METRICS, downstream_agreement
from unbraid_claims import (
    Claim,
    Evidence,
    Measured,
    above,
    below,
    rank_correlation,
    resampled,
)

_STUDY = "dlib-2019"
_WEAK = 0.3


def measure(evidence: Evidence) -> Measured:
    """Measure the rank correlation of metrics with accuracy and efficiency."""
    table = evidence.table(_STUDY)
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    checks = [
        above(
            "metrics and accuracy of predicted factors: mean rank correlation",
            resampled(table, _accuracy, n_resamples=n_resamples),
        ),
        below(
            "FactorVAE score and statistical efficiency: rank correlation",
            resampled(table, _efficiency, n_resamples=n_resamples),
            _WEAK,
            expected="no reliable gain, below 0.3",
        ),
    ]
    pooled = downstream_agreement(table).pooled
    figure = draw_rank_correlation(pooled, title="downstream tasks")
    return Measured(checks=checks, figure=figure)


def _accuracy(table: pd.DataFrame) -> float:
    found = [
        rank_correlation(table, f"score.{name}", "score.downstream_accuracy")
        for name in PUBLISHED_METRICS
    ]
    return float(np.mean(found))


def _efficiency(table: pd.DataFrame) -> float:
    return rank_correlation(
        table, "score.factor_vae_score", "score.statistical_efficiency"
    )


CLAIM = Claim(
    name="locatello-downstream",
    source="Locatello et al. (2019), Figures 5 and 6",
    text="Metrics are correlated with how well factors are predicted from the codes, "
    "but not with how few examples that takes.",
    measure=measure,
    studies=(_STUDY,),
)
