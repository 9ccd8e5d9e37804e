"""No term of a loss says which model disentangles."""

import pandas as pd

from unbraid.reports import draw_rank_correlation
from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import resampled
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._tables import rank_correlation
from unbraid.studies.analysis import PUBLISHED_METRICS, unsupervised_agreement

_STUDY = "dlib-2019"
_TERMS = {
    "final.elbo": "ELBO",
    "final.reconstruction": "reconstruction error",
    "final.kl": "KL divergence",
    "score.gaussian_total_correlation": "total correlation of the means",
    "score.gaussian_wasserstein": "Wasserstein correlation of the means",
}
_RELIABLE = 0.5


def measure(evidence: Evidence) -> Measured:
    """The best that any term does by the metric that it does worst by."""
    table = evidence.table(_STUDY)
    checks = []
    for term, name in _TERMS.items():
        value, interval = resampled(
            table,
            lambda some, term=term: _worst(some, term),
            n_resamples=evidence.at(smoke=20, mini=1_000, paper=1_000),
        )
        checks.append(
            Check(
                quantity=f"{name}: rank correlation with the metric that it follows "
                "least, in its better direction",
                expected=f"below {_RELIABLE:g}, unreliable",
                value=value,
                interval=interval,
                most=_RELIABLE,
            )
        )
    pooled = unsupervised_agreement(table).pooled
    figure = draw_rank_correlation(pooled, title="without labels")
    return Measured(checks=checks, figure=figure)


def _worst(table: pd.DataFrame, term: str) -> float:
    found = [
        rank_correlation(table, f"score.{name}", term) for name in PUBLISHED_METRICS
    ]
    return max(min(found), -max(found))


CLAIM = Reproduction(
    name="locatello-selection",
    source="Locatello et al. (2019), section 5.4 and Figure 4",
    claim="Neither the ELBO nor any other number that needs no labels goes reliably "
    "with the metrics, so that models cannot be chosen by it.",
    measure=measure,
    studies=(_STUDY,),
)
