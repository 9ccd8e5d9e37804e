"""While the capacity of one run rises, factors are learned one after another."""

from dataclasses import asdict
from typing import Any

import numpy as np

from unbraid.studies import preset, study_from_plain
from unbraid_claims import Check, Claim, Evidence, Measured, above
from unbraid_claims._capacity_course import (
    CapacityCourse,
    draw_capacity_course,
    follow_capacity,
)


def measure(evidence: Evidence) -> Measured:
    """Nats that latents know of each factor, over the course of one run."""
    course = CapacityCourse(**evidence.cached("course", lambda: _follow(evidence)))
    known = np.array(course.known).mean(axis=0)
    mean = dict(zip(course.factor_names, known, strict=True))
    positions = min(mean["position_x"], mean["position_y"])
    rest = max(mean["shape"], mean["orientation"])
    total = sum(course.kl_per_latent[-1])
    checks = [
        above(
            f"{order}: nats known to the best latent, difference of means over the run",
            (float(difference), None),
        )
        for order, difference in (
            ("positions before scale", positions - mean["scale"]),
            ("scale before shape and orientation", mean["scale"] - rest),
        )
    ]
    checks.append(
        Check(
            quantity="KL of all latents at the end, divided by the capacity",
            expected="close to 1",
            value=total / course.capacities[-1],
            least=0.8,
            most=1.2,
        )
    )
    return Measured(checks=checks, figure=draw_capacity_course(course), n_seeds=1)


def _follow(evidence: Evidence) -> dict[str, Any]:
    plain = preset(
        "burgess-2018", evidence.at(smoke="mini", mini="mini", paper="paper")
    )
    if evidence.preset == "smoke":
        plain["training"]["steps"] = 20
    (run,) = study_from_plain(plain).runs()
    n_rows = evidence.at(smoke=200, mini=2_880, paper=20_000)
    n_snapshots = evidence.at(smoke=4, mini=10, paper=10)
    return asdict(follow_capacity(run, n_snapshots=n_snapshots, n_rows=n_rows))


CLAIM = Claim(
    name="burgess-figure-3",
    source="Burgess et al. (2018), Figure 3, in the lecture on Locatello et al. (2019)",
    text="While the capacity of one run rises, its latents first take up the "
    "positions, then the scale, and then shape and orientation.",
    measure=measure,
)
