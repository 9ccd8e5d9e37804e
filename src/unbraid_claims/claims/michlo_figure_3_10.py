"""The less squares overlap, the less is disentangled."""

import pandas as pd

from unbraid_claims import Claim, Evidence, Measured, below, mean_of
from unbraid_claims._michlo_runs import (
    FRAMEWORKS,
    SCORES,
    framework,
    frameworks_of,
    slopes,
)
from unbraid_claims._score_panels import draw_trends

_STUDY = "michlo-2022-a3-2"


def measure(evidence: Evidence) -> Measured:
    """Measure the slope of scores over the spacing of squares."""
    table = with_spacing(evidence.table(_STUDY))
    checks = []
    for name, method in FRAMEWORKS.items():
        runs = framework(table, name)
        for score, called in SCORES.items():
            found = slopes(
                runs, score, along="spacing", sweep=("objective.beta", "seed")
            )
            quantity = f"{method}: {called} per pixel of spacing, mean slope over beta "
            checks.append(below(f"{quantity}and seeds", mean_of(found)))
    shown = table.assign(framework=frameworks_of(table))
    figure = draw_trends(
        shown, "spacing", "framework", SCORES, label="spacing in pixels"
    )
    remark = evidence.at(
        smoke="", mini="Squares of 4x4 pixels, spaced by 1 to 4, on 16x16.", paper=""
    )
    return Measured(checks=checks, figure=figure, remark=remark)


def with_spacing(table: pd.DataFrame) -> pd.DataFrame:
    """Add the spacing of squares to a table of runs."""
    return table.assign(
        spacing=table["data"].str.extract(r"spacing=(\d+)", expand=False).astype(int)
    )


CLAIM = Claim(
    name="michlo-figure-3-10",
    source="Michlo (2022), Figure 3.10",
    text="The farther apart the positions of XYSquares are, and so the less its "
    "images overlap, the worse beta-VAE and Ada-GVAE disentangle it.",
    measure=measure,
    studies=(_STUDY,),
)
