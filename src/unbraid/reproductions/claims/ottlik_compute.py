"""beta-VAE disentangles more the longer it is trained."""

import pandas as pd

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import gain_of, resampled
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_lines

_STUDY = "compute"


def measure(evidence: Evidence) -> Measured:
    """MIG against steps of training, for beta 1 and 4."""
    table = evidence.table(_STUDY)
    strong = table[table["objective.beta"] == 4].reset_index(drop=True)
    value, interval = resampled(
        strong,
        _trend,
        within="training.steps",
        n_resamples=evidence.at(smoke=20, mini=1_000, paper=1_000),
    )
    longest = table[table["training.steps"] == table["training.steps"].max()]
    ends = {
        beta: some["score.mig"].to_numpy()
        for beta, some in longest.groupby("objective.beta")
    }
    gain, of_gain = gain_of(ends[4], ends[1])
    checks = [
        Check(
            quantity="beta 4: rank correlation of MIG and compute",
            expected="above 0",
            value=value,
            interval=interval,
            least=0.0,
        ),
        Check(
            quantity="after the longest training: MIG of beta 4 less that of beta 1",
            expected="above 0: the algorithm matters too",
            value=gain,
            interval=of_gain,
            least=0.0,
        ),
    ]
    means = table.pivot_table(
        index="training.steps", columns="objective.beta", values="score.mig"
    )
    figure = draw_lines(
        [f"{steps:,}" for steps in means.index],
        {f"beta {beta:g}": means[beta].to_numpy() for beta in means.columns},
        across="steps of training",
        up="MIG, mean over seeds",
    )
    return Measured(checks=checks, figure=figure)


def _trend(table: pd.DataFrame) -> float:
    return float(table["training.steps"].rank().corr(table["score.mig"].rank()))


CLAIM = Reproduction(
    name="ottlik-compute",
    source="Ottlik, Ram and Liss (2022), Figures 6 and 7",
    claim="The MIG of beta-VAE with beta 4 grows with the compute of its training, and "
    "the choice of the algorithm matters beside scale.",
    measure=measure,
    studies=(_STUDY,),
)
