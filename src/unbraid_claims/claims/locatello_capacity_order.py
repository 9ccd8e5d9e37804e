"""Capacity is used for positions first, then scale, then shape and orientation."""

from typing import Any

import numpy as np

from unbraid_claims import Claim, Evidence, Measured, above, mean_of
from unbraid_claims._learned_factors import learned_factors
from unbraid_claims._scores_by_group import draw_lines

_STUDY = "capacity"


def measure(evidence: Evidence) -> Measured:
    """Measure the information of latents about each factor, by capacity."""
    found = evidence.cached("nats", lambda: _learned(evidence))
    names = found["factors"]
    # Seeds, capacities, factors.
    known = np.array(found["known"])
    mean = dict(zip(names, np.moveaxis(known.mean(axis=1), -1, 0), strict=True))
    positions = np.minimum(mean["position_x"], mean["position_y"])
    rest = np.maximum(mean["shape"], mean["orientation"])
    checks = []
    for quantity, gains in (
        ("positions before scale", positions - mean["scale"]),
        ("scale before shape and orientation", mean["scale"] - rest),
    ):
        quantity += ": nats that the best latent knows of a factor, difference of "
        checks.append(above(f"{quantity}means over capacities", mean_of(gains)))
    figure = draw_lines(
        [f"{capacity:g}" for capacity in found["capacities"]],
        {
            name.replace("_", " "): known[:, :, number].mean(axis=0)
            for number, name in enumerate(names)
        },
        x_label="capacity (nats)",
        y_label="nats known to its best latent",
    )
    return Measured(
        checks=checks,
        figure=figure,
        remark="Nats are the unit of the source; they were taken after shares of the "
        "entropy, of which scale has less, could not tell. The weight of the capacity "
        "(gamma) in the miniature was chosen among three by one run each.",
    )


def _learned(evidence: Evidence) -> dict[str, Any]:
    rows: dict[float, list[list[float]]] = {}
    names: list[str] = []
    for cell in evidence.cells(_STUDY):
        known = learned_factors(cell.files.path, cell.spec.data, in_nats=True)
        names = list(known)
        capacity = cell.spec.objective["capacity"]["end"]
        rows.setdefault(capacity, []).append(list(known.values()))
    by_seed = np.array([rows[capacity] for capacity in sorted(rows)]).swapaxes(0, 1)
    return {"factors": names, "capacities": sorted(rows), "known": by_seed.tolist()}


CLAIM = Claim(
    name="locatello-capacity-order",
    source="Burgess et al. (2018), Figure 3, in the lecture on Locatello et al. (2019)",
    text="As capacity grows, latents first take up the positions, then the scale, and "
    "then shape and orientation.",
    measure=measure,
    studies=(_STUDY,),
    changed="2026-11-18",
)
