"""Make the plan of a discovery, or continue with the one in its folder."""

from pathlib import Path
from typing import Any, Literal

from ._budget import N_LATENTS, OBJECTIVES, Limits
from ._data import Source, downscale
from ._extension import can_extend, extend_plan
from ._image_size import choose_factor
from ._objectives import propose_objectives
from ._plan import Plan
from ._proposal import propose
from ._proposal_evolving import propose_evolution

Method = Literal["sweep", "pbt", "recursive"]


def make_plan(
    folder: Path, source: Source, method: Method, limits: Limits, known: Plan | None
) -> Plan:
    """Return the plan of the folder, or another one if something else is asked for.

    A larger budget extends the plan; see :func:`can_extend`.

    Args:
        folder: Folder of the discovery.
        source: Its data.
        method: Method by which configurations are found.
        limits: Time and machine of the discovery.
        known: Plan of the folder, if it has one.
    """
    asked: dict[str, Any] = {"seconds": limits.seconds, "seed": limits.seed}
    if method != "sweep":
        asked["method"] = method
    if limits.n_latents != N_LATENTS:
        asked["n_latents"] = limits.n_latents
    if limits.objectives != OBJECTIVES:
        asked["objectives"] = ",".join(limits.objectives)
    fingerprint = source.content.fingerprint
    if known is not None and known.fingerprint != fingerprint:
        raise FileExistsError(
            f"discover: the folder {str(folder)!r} holds a discovery in other data. "
            "Choose another with --out."
        )
    if known is not None and known.asked == asked:
        return known
    factor, notes = 1, ()
    if method == "sweep":
        factor, notes = choose_factor(source.dataset.image_shape, limits)
        if factor > 1:
            source = downscale(source, factor, folder / "data")
        is_usual = limits.objectives == OBJECTIVES
        plan_race = propose if is_usual else propose_objectives
        proposal = plan_race(source.data, source.dataset, limits)
        if known is not None and can_extend(known, asked, factor, proposal):
            plan = extend_plan(known, source.dataset, limits)
            plan.write(folder)
            return plan
    else:
        proposal = propose_evolution(method, source.data, source.dataset, limits)
    if known is not None and method == "sweep":
        notes = (
            *notes,
            f"A new race begins, with runs of {proposal.steps:,} steps: those of the "
            f"former plan ({known.steps:,} steps) do not count.",
        )
    plan = Plan(
        fingerprint,
        asked,
        proposal.study,
        proposal.seconds,
        proposal.rungs,
        notes=notes,
        factor=factor,
    )
    plan.write(folder)
    return plan
