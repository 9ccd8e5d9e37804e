"""Training is most stable with as many latents as there are factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from unbraid.reports.figures import new_figure, tidy
from unbraid_claims import Claim, Evidence, Measured, above, below, mean_of
from unbraid_claims._stability import STUDY, stability_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def measure(evidence: Evidence) -> Measured:
    """Compare the stability with four latents and with other numbers of latents."""
    table = stability_table(evidence)
    grid = table.pivot_table(index="beta", columns="n_latents", values="dynamics")
    true = evidence.at(smoke=int(grid.columns[0]), mini=4, paper=4)
    others = [n_latents for n_latents in grid.columns if n_latents != true]
    # The best of the others on the whole: a different one per beta would be unfair.
    best = grid[others].mean().idxmin()
    gain = (grid[true] - grid[best]) / grid[best].mean()
    loss = (grid[others].max(axis=1) - grid[true]) / grid[true].mean()
    checks = [
        below(
            f"instability with {true} latents less that with {best:g}, the next best "
            "number, relative, mean over betas",
            mean_of(gain.to_numpy()),
            expected="below 0: lowest at the number of factors",
        ),
        above(
            f"the least stable number less {true} latents, relative",
            mean_of(loss.to_numpy()),
        ),
    ]
    return Measured(
        checks=checks,
        figure=_draw(grid),
        remark="The source counts four factors in dSprites; with x and y there are "
        "five. Numbers of latents are 2, 4, 8, 16 and 32.",
    )


def _draw(grid: pd.DataFrame) -> Figure:
    figure = new_figure((6.0, 3.4))
    axes = figure.subplots()
    positions = np.arange(len(grid.columns))
    for beta, row in grid.iterrows():
        axes.plot(positions, row, marker="o", alpha=0.7, label=f"beta {beta:g}")
    axes.plot(positions, grid.mean(), color="#111111", linewidth=2.5, label="mean")
    axes.set_xticks(positions, [f"{n_latents:g}" for n_latents in grid.columns])
    axes.set_xlabel("latents")
    axes.set_ylabel("instability (MMD)")
    axes.legend(fontsize=8, frameon=False)
    tidy(axes)
    return figure


CLAIM = Claim(
    name="holtz-figure-4a",
    source="Holtz et al. (2022), Figure 4a",
    text="The instability of training is lowest when there are as many latents as "
    "generative factors.",
    measure=measure,
    studies=(STUDY,),
)
