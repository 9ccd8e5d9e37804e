"""rPU-VAE beats plain methods and comes close to supervised populations."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unbraid.studies import Cell
from unbraid.studies.analysis import strengths
from unbraid_claims import (
    Check,
    Claim,
    Evidence,
    Measured,
    above,
    below,
    gain_of,
    spread_ratio,
)
from unbraid_claims._populations import (
    BOTH,
    PLAIN,
    RECURSIVE,
    SCORES,
    SUPERVISED,
    by_dataset,
    draw_populations,
    has_leaf_runs,
    is_supervised,
    leaf_run_numbers,
    scores_of,
)
from unbraid_claims._scores_by_group import scores_by
from unbraid_claims._tables import rows_where

# The small studies share the populations of Figures 1 and 6.
_POPULATIONS, _PAPER_POPULATIONS = (SUPERVISED, RECURSIVE), (BOTH,)


def measure(evidence: Evidence) -> Measured:
    """Compare rPU-VAE with plain methods and supervised populations, per dataset."""
    names = evidence.at(smoke=_POPULATIONS, mini=_POPULATIONS, paper=_PAPER_POPULATIONS)
    populations = [cell for name in names for cell in evidence.cells(name)]
    plain = strengths(evidence.table(PLAIN))
    checks, unsupervised = [], []
    for dataset, cells in by_dataset(populations).items():
        own = rows_where(plain, "data", str(cells[0].spec.data))
        by_method = {
            score: scores_by(own, "method", f"score.{score}") for score in SCORES
        }
        checks += _checks(dataset, cells, by_method)
        if not scores_of(cells, "mig", is_supervised).size:
            unsupervised.append(dataset)
    return Measured(
        checks=checks,
        figure=draw_populations([*evidence.cells(PLAIN), *populations]),
        remark=f"No supervised populations on {' and '.join(unsupervised)}."
        if unsupervised
        else "",
    )


def _checks(
    dataset: str,
    cells: Sequence[Cell],
    by_method: Mapping[str, Mapping[str, NDArray[np.float64]]],
) -> list[Check]:
    """Return the checks of one dataset."""
    is_ours = has_leaf_runs(leaf_run_numbers(cells)[-1])
    checks = []
    for score, name in SCORES.items():
        plain = by_method[score]
        best = max(plain, key=lambda method: plain[method].mean())
        quantity = f"{dataset}: {name} of rPU-VAE less {best.replace('_', ' ')}, the "
        quantity += "best plain method in its mean over strengths"
        ours = scores_of(cells, score, is_ours)
        checks.append(above(quantity, gain_of(ours, plain[best])))
    ours = scores_of(cells, "mig", is_ours)
    checks.append(
        below(
            f"{dataset}: deviation of rPU-VAE's MIG over that within plain methods",
            spread_ratio(ours, list(by_method["mig"].values())),
            1.0,
            expected="below 1: comparatively little variance",
        )
    )
    supervised = scores_of(cells, "mig", is_supervised)
    if supervised.size:
        quantity = f"{dataset}: MIG of supervised populations less that of rPU-VAE"
        gain = gain_of(supervised, ours)
        checks.append(below(quantity, gain, 0.15, expected="small, below 0.15"))
    return checks


CLAIM = Claim(
    name="estermann-figure-4",
    source="Estermann et al. (2020), Figure 4",
    text="rPU-VAE has higher mean scores than every plain method and little variance, "
    "and comes close to populations that are scored with all labels.",
    measure=measure,
    studies=(PLAIN, *_POPULATIONS),
    paper_studies=(PLAIN, *_PAPER_POPULATIONS),
    changed="2026-11-18",
)
