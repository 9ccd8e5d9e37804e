"""beta-VAE and Ada-GVAE fail on XYSquares."""

from unbraid_claims import Claim, Evidence, Measured, above, gain_of
from unbraid_claims._michlo_runs import (
    FRAMEWORKS,
    SCORES,
    best_of_sweeps,
    framework,
    frameworks_of,
    on_common,
    on_squares,
    short_data,
)
from unbraid_claims._score_panels import draw_score_panels

_STUDY = "michlo-2022-a3-1"
_SWEEP = ("data", "training.n_latents", "seed")


def measure(evidence: Evidence) -> Measured:
    """Compare the best scores on common data and on XYSquares."""
    table = evidence.table(_STUDY)
    checks = []
    for name, method in FRAMEWORKS.items():
        runs = framework(table, name)
        for score, called in SCORES.items():
            gain = gain_of(
                best_of_sweeps(on_common(runs), score, sweep=_SWEEP),
                best_of_sweeps(on_squares(runs), score, sweep=_SWEEP),
            )
            quantity = (
                f"{method}: {called} on common data less that on XYSquares, best "
            )
            checks.append(above(f"{quantity}beta of each sweep", gain))
    shown = table.assign(framework=frameworks_of(table), kind=short_data(table))
    figure = draw_score_panels(shown, ["framework", "kind"], SCORES)
    return Measured(checks=checks, figure=figure, remark=_remark(evidence))


def _remark(evidence: Evidence) -> str:
    return evidence.at(
        smoke="",
        mini="Common data are rendered sprites and rooms, in place of the four "
        "published datasets.",
        paper="",
    )


CLAIM = Claim(
    name="michlo-figure-3-7",
    source="Michlo (2022), Figure 3.7",
    text="On XYSquares, where any two values of a factor look equally far apart, the "
    "best scores of beta-VAE and Ada-GVAE are far below those on common data.",
    measure=measure,
    studies=(_STUDY,),
)
