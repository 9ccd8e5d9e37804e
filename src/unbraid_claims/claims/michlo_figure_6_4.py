"""A learned loss disentangles XYSquares better than hand-made ones."""

import pandas as pd

from unbraid_claims import Claim, Evidence, Measured, above, gain_of
from unbraid_claims._michlo_runs import (
    FRAMEWORKS,
    SCORES,
    best_of_sweeps,
    framework,
    frameworks_of,
)
from unbraid_claims._score_panels import draw_score_panels
from unbraid_claims._tables import rows_where

_PLAIN, _LEARNED = "michlo-2022-a3-3", "michlo-2022-a6-learnt"
_LOSSES = ("squared error", "gaussian", "box")


def measure(evidence: Evidence) -> Measured:
    """Compare the best scores of the learned loss and of other losses."""
    parts = [evidence.table(name) for name in (_PLAIN, _LEARNED)]
    table = pd.concat(parts).drop_duplicates("id")
    table = table.assign(loss=_losses(table))
    checks = []
    for name, method in FRAMEWORKS.items():
        runs = framework(table, name)
        for score, called in SCORES.items():
            best = best_of_sweeps(rows_where(runs, "loss", "learnt"), score)
            for loss in _LOSSES:
                gain = gain_of(
                    best, best_of_sweeps(rows_where(runs, "loss", loss), score)
                )
                quantity = f"{method}: {called} gained by the learned loss over {loss}"
                checks.append(above(f"{quantity}, best beta of each seed", gain))
    order = {loss: rank for rank, loss in enumerate((*_LOSSES, "learnt"))}
    shown = table.assign(
        framework=frameworks_of(table),
        beta=[f"beta {beta}" for beta in table["objective.beta"]],
        rank=[order[loss] for loss in table["loss"]],
    )
    shown = shown.sort_values(["framework", "rank"], ascending=[False, True])
    figure = draw_score_panels(shown, ["framework", "loss", "beta"], SCORES)
    remark = "Box and Gaussian are weighted by 1 over the sum of their squares, as the "
    remark += "source does not give its weights; the learned kernel keeps its own."
    return Measured(checks=checks, figure=figure, remark=remark)


def _losses(table: pd.DataFrame) -> list[str]:
    """Return the name of the loss of each run."""
    likelihoods = zip(table["likelihood.name"], table["likelihood.kernel"], strict=True)
    return [
        "squared error"
        if name == "gaussian"
        else (kernel if kernel in _LOSSES else "learnt")
        for name, kernel in likelihoods
    ]


CLAIM = Claim(
    name="michlo-figure-6-4",
    source="Michlo (2022), Figure 6.4",
    text="Squared error through a kernel that was learned for XYSquares lets beta-VAE "
    "and Ada-GVAE disentangle it better than squared error alone or through a box or "
    "Gaussian.",
    measure=measure,
    studies=(_PLAIN, _LEARNED),
)
