"""beta-VAE disentangles better with longer training."""

import pandas as pd

from unbraid_claims import (
    Claim,
    Evidence,
    Measured,
    above,
    gain_of,
    rank_correlation,
    resampled,
)
from unbraid_claims._scores_by_group import draw_lines
from unbraid_claims._tables import group_means, numbers_of, rows_where

_STUDY = "compute"
_BETAS = (1, 4)


def measure(evidence: Evidence) -> Measured:
    """Measure MIG over the number of training steps, for beta 1 and 4."""
    table = evidence.table(_STUDY)
    strong = rows_where(table, "objective.beta", 4)
    trend = resampled(
        strong,
        _trend,
        within="training.steps",
        n_resamples=evidence.at(smoke=20, mini=1_000, paper=1_000),
    )
    longest = rows_where(table, "training.steps", max(table["training.steps"]))
    weak_end, strong_end = (
        numbers_of(rows_where(longest, "objective.beta", beta), "score.mig")
        for beta in _BETAS
    )
    checks = [
        above("beta 4: rank correlation of MIG and compute", trend),
        above(
            "after the longest training: MIG of beta 4 less that of beta 1",
            gain_of(strong_end, weak_end),
            expected="above 0: the algorithm matters too",
        ),
    ]
    means = {
        beta: group_means(
            rows_where(table, "objective.beta", beta), "training.steps", "score.mig"
        )
        for beta in _BETAS
    }
    figure = draw_lines(
        [f"{steps:,}" for steps in means[1]],
        {f"beta {beta}": list(line.values()) for beta, line in means.items()},
        x_label="steps of training",
        y_label="MIG, mean over seeds",
    )
    return Measured(checks=checks, figure=figure)


def _trend(table: pd.DataFrame) -> float:
    return rank_correlation(table, "training.steps", "score.mig")


CLAIM = Claim(
    name="ottlik-compute",
    source="Ottlik, Ram and Liss (2022), Figures 6 and 7",
    text="The MIG of beta-VAE with beta 4 grows with the compute of its training, and "
    "the choice of the algorithm matters beside scale.",
    measure=measure,
    studies=(_STUDY,),
)
