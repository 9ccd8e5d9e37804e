"""Questions to ask of the table of a study, each answered with its plot data."""

from ._downstream_agreement import downstream_agreement
from ._metric_agreement import metric_agreement
from ._own_scores import default_metrics
from ._rank_correlation import RankAgreement, RankCorrelation, correlate_ranks
from ._strengths import setting_name, strengths
from ._table import (
    DISENTANGLEMENT_METRICS,
    DOWNSTREAM_SCORES,
    PUBLISHED_METRICS,
    UNSUPERVISED_SCORES,
    number_groups,
    values_of,
)
from ._total_correlation import (
    TotalCorrelationByStrength,
    total_correlation_by_strength,
)
from ._transfer import Transfer, transfer
from ._unsupervised_agreement import unsupervised_agreement
from ._variance import VarianceExplained, variance_explained

__all__ = [
    "correlate_ranks",
    "number_groups",
    "values_of",
    "DISENTANGLEMENT_METRICS",
    "DOWNSTREAM_SCORES",
    "PUBLISHED_METRICS",
    "UNSUPERVISED_SCORES",
    "RankAgreement",
    "RankCorrelation",
    "TotalCorrelationByStrength",
    "Transfer",
    "VarianceExplained",
    "default_metrics",
    "downstream_agreement",
    "metric_agreement",
    "setting_name",
    "strengths",
    "total_correlation_by_strength",
    "transfer",
    "unsupervised_agreement",
    "variance_explained",
]
