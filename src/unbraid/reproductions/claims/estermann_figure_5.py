"""The stages of rPU-VAE learn one group of factors after another."""

from typing import Any

import numpy as np

from unbraid.reproductions._evidence import Evidence
from unbraid.reproductions._finding import Check, Measured
from unbraid.reproductions._intervals import mean_of
from unbraid.reproductions._learned_factors import learned_factors
from unbraid.reproductions._populations import RECURSIVE, stage_folders
from unbraid.reproductions._reproduction import Reproduction
from unbraid.reproductions._scores_by_group import draw_lines

_STAGES = ("first population", "leaf populations")


def measure(evidence: Evidence) -> Measured:
    """What the winners of each stage know of scale, and of positions."""
    found = evidence.kept("stages", lambda: _stages(evidence))
    names = list(found["first population"][0])
    known = {
        stage: np.array([[row[name] for name in names] for row in found[stage]])
        for stage in _STAGES
        if found[stage]
    }
    checks = []
    if len(known) == len(_STAGES):
        first, later = (known[stage] for stage in _STAGES)
        scale = names.index("scale")
        places = [names.index(name) for name in ("position_x", "position_y")]
        gain, of_gain = mean_of(later[:, scale] - first[:, scale].mean())
        lead, of_lead = mean_of(first[:, places].min(axis=1) - first[:, scale])
        checks = [
            Check(
                quantity="first populations: positions known, less scale",
                expected="above 0: positions first",
                value=lead,
                interval=of_lead,
                least=0.0,
            ),
            Check(
                quantity="scale known to leaf populations, less to the first",
                expected="above 0: scale next",
                value=gain,
                interval=of_gain,
                least=0.0,
            ),
        ]
    else:
        checks = [
            Check(
                quantity="recursions that had a leaf population",
                expected="most",
                value=0.0,
                interval=(0.0, 1.0),
                least=0.5,
            )
        ]
    figure = draw_lines(
        [name.replace("_", " ") for name in names],
        {stage: values.mean(axis=0) for stage, values in known.items()},
        across="factor",
        up="known to its best latent",
    )
    return Measured(
        checks=checks,
        figure=figure,
        remark="Images are small here, so that shape and orientation are worth no "
        "latent; the third stage of the source has no counterpart.",
    )


def _stages(evidence: Evidence) -> dict[str, list[dict[str, Any]]]:
    first: dict[str, dict[str, float]] = {}
    leaves: dict[str, dict[str, float]] = {}
    for cell in evidence.cells(RECURSIVE):
        for stage, folder in stage_folders(cell).items():
            if stage == "final":
                continue
            place = first if stage == "root" else leaves
            # Recursions share the populations that they have in common.
            if str(folder) not in place:
                place[str(folder)] = learned_factors(folder, cell.spec.data)
    both = (list(first.values()), list(leaves.values()))
    return dict(zip(_STAGES, both, strict=True))


CLAIM = Reproduction(
    name="estermann-figure-5",
    source="Estermann et al. (2020), Figure 5",
    claim="The first population of a recursion learns the positions, and the next ones, "
    "on images that are alike in these, the scale.",
    measure=measure,
    studies=(RECURSIVE,),
)
