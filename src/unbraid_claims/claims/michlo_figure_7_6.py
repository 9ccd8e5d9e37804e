"""Pictures behind or inside sprites make disentangling harder."""

from unbraid_claims import Claim, Evidence, Measured, below, mean_of
from unbraid_claims._michlo_runs import SCORES, frameworks_of, slopes
from unbraid_claims._score_panels import draw_trends
from unbraid_claims._tables import rows_where

_STUDY = "michlo-2022-a7-2"
_SWEEP = ("objective.name", "objective.beta", "seed")
_POSITIONS = ("inside", "behind")


def measure(evidence: Evidence) -> Measured:
    """Measure the slope of scores over the visibility of pictures."""
    table = evidence.table(_STUDY)
    percents = table["data"].str.extract(r"visibility=(\d+)", expand=False)
    table = table.assign(
        where=table["data"].str.extract(r"where=(\w+)", expand=False),
        visibility=percents.astype(int) / 100,
    )
    checks = []
    for position in _POSITIONS:
        runs = rows_where(table, "where", position)
        for score, called in SCORES.items():
            found = slopes(runs, score, along="visibility", sweep=_SWEEP)
            quantity = (
                f"pictures {position} of sprites: {called} from invisible to fully "
            )
            quantity += "visible, mean slope over frameworks, beta and seeds"
            checks.append(below(quantity, mean_of(found)))
    shown = table.assign(framework=frameworks_of(table))
    figure = draw_trends(
        shown, "visibility", ["framework", "where"], SCORES, label="visibility"
    )
    remark = evidence.at(
        smoke="",
        mini="Rendered sprites and pictures, in place of dSprites and Tiny ImageNet.",
        paper="",
    )
    return Measured(checks=checks, figure=figure, remark=remark)


CLAIM = Claim(
    name="michlo-figure-7-6",
    source="Michlo (2022), Figure 7.6",
    text="The better unrelated pictures behind or inside of sprites can be seen, the "
    "worse beta-VAE and Ada-GVAE disentangle the sprites' factors.",
    measure=measure,
    studies=(_STUDY,),
)
