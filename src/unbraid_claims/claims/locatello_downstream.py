"""Disentangled codes are no quicker to learn from."""

import numpy as np
import pandas as pd

from unbraid.reports import draw_rank_correlation
from unbraid.studies.analysis import PUBLISHED_METRICS, downstream_agreement
from unbraid_claims._claim import Claim
from unbraid_claims._evidence import Evidence
from unbraid_claims._finding import Check, Measured
from unbraid_claims._intervals import resampled
from unbraid_claims._tables import rank_correlation

_STUDY = "dlib-2019"
_WEAK = 0.3


def measure(evidence: Evidence) -> Measured:
    """Rank correlation of metrics with accuracy and with efficiency."""
    table = evidence.table(_STUDY)
    n_resamples = evidence.at(smoke=20, mini=1_000, paper=1_000)
    accuracy, of_accuracy = resampled(
        table, lambda some: _mean(some, "downstream_accuracy"), n_resamples=n_resamples
    )
    efficiency, of_efficiency = resampled(table, _efficiency, n_resamples=n_resamples)
    checks = [
        Check(
            quantity="metrics and accuracy of predicted factors: mean rank correlation",
            expected="above 0",
            value=accuracy,
            interval=of_accuracy,
            least=0.0,
        ),
        Check(
            quantity="FactorVAE score and statistical efficiency: rank correlation",
            expected="no reliable gain, below 0.3",
            value=efficiency,
            interval=of_efficiency,
            most=_WEAK,
        ),
    ]
    pooled = downstream_agreement(table).pooled
    figure = draw_rank_correlation(pooled, title="downstream tasks")
    return Measured(checks=checks, figure=figure)


def _mean(table: pd.DataFrame, score: str) -> float:
    found = [
        rank_correlation(table, f"score.{name}", f"score.{score}")
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
    text="Metrics go with how well factors are predicted from the codes, but not with "
    "how few examples that takes.",
    measure=measure,
    studies=(_STUDY,),
)
