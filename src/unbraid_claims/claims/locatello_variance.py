"""The objective explains less variance than strength and seed together."""

import pandas as pd

from unbraid.reports import draw_scores_by_method
from unbraid.studies.analysis import PUBLISHED_METRICS, strengths, variance_explained
from unbraid_claims import Check, Claim, Evidence, Measured, resampled
from unbraid_claims._tables import numbers_of

_STUDY = "dlib-2019"
# Least and most over the seven published datasets, of the mean over the six metrics.
_PRINTED = {
    "objective": (0.19, 0.65),
    "objective_and_strength": (0.32, 0.83),
    "seed": (0.17, 0.68),
}


def measure(evidence: Evidence) -> Measured:
    """Measure the shares of the variance of scores, averaged over six metrics."""
    table = strengths(evidence.table(_STUDY))
    n_resamples = evidence.at(smoke=5, mini=200, paper=100)
    checks = []
    for share, (least, most) in _PRINTED.items():
        value, interval = resampled(
            table,
            lambda some, share=share: _mean_share(some, share),
            within=["method", "strength_rank"],
            n_resamples=n_resamples,
        )
        checks.append(
            Check(
                quantity=f"share of the variance explained by "
                f"{share.replace('_', ' ')}, mean over six metrics",
                expected=f"{least:.0%} to {most:.0%}, by dataset",
                value=value,
                interval=interval,
                least=least,
                most=most,
            )
        )
    figure = draw_scores_by_method(variance_explained(table))
    return Measured(checks=checks, figure=figure)


def _mean_share(table: pd.DataFrame, share: str) -> float:
    shares = variance_explained(table, list(PUBLISHED_METRICS)).shares
    return float(numbers_of(shares, share).mean())


CLAIM = Claim(
    name="locatello-variance",
    source="Locatello et al. (2019), two tables of variance explained",
    text="The objective alone explains a part of the variance of scores, its strength "
    "adds about as much, and the rest, a third on average, is left to the seed.",
    measure=measure,
    studies=(_STUDY,),
)
