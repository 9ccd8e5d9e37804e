"""A larger budget for a discovery: its plan grows, and finished runs count."""

import dataclasses
from typing import Any

from unbraid.data import AbstractDataset
from unbraid.studies import measure_run, study_from_plain

from ._budget import Limits
from ._configuration import name_configuration
from ._objectives import list_configurations
from ._plan import Plan
from ._proposal import Proposal
from ._rounds import extend_race
from ._strength import bearable_strength

_LONGER = 2.0
"""Factor by which runs of a new plan must be longer to be worth a new start."""


def is_extensible(plan: Plan) -> bool:
    """Return whether a larger budget may make a plan grow: a race with a budget."""
    return bool(plan.rungs) and plan.asked.get("seconds") is not None


def can_extend(
    known: Plan, asked: dict[str, Any], factor: int, proposal: Proposal
) -> bool:
    """Return whether a plan should grow, instead of being replaced by another one.

    It grows if the budget is larger and nothing else has changed, unless there is now
    time for larger images or for much longer runs, which are worth more than what is
    finished.

    Args:
        known: Plan of the folder.
        asked: Budget, seed and options that are asked for now.
        factor: Factor by which a new plan would make images smaller.
        proposal: The new plan.
    """
    before, now = known.asked.get("seconds"), asked.get("seconds")
    is_larger = is_extensible(known) and now is not None and now > before
    others = {key: value for key, value in asked.items() if key != "seconds"}
    is_same = others.items() <= known.asked.items() and len(known.asked) == len(asked)
    is_race = bool(proposal.rungs) and factor == known.factor
    # A plan that was edited by hand may be of another form.
    is_race = is_race and all(
        isinstance(objective, dict)
        for axes in known.study.sweep.zip
        for objective in axes.get("objective", [None])
    )
    return is_larger and is_same and is_race and proposal.steps < _LONGER * known.steps


def extend_plan(known: Plan, dataset: AbstractDataset, limits: Limits) -> Plan:
    """Return a plan with more configurations and seeds, which contains another one.

    Args:
        known: Plan of the folder.
        dataset: Its data.
        limits: Time and machine of the discovery, with the larger budget.
    """
    assert limits.seconds is not None
    cost = measure_run(known.study.runs()[0], device=limits.device)
    rungs = extend_race(known.rungs, cost, limits.seconds, limits.n_workers)
    (axes,) = known.study.sweep.zip
    objectives = list(axes["objective"])
    for objective in list_configurations(
        limits.objectives, bearable_strength(dataset), rungs[0].n_configurations
    ):
        if objective not in objectives and len(objectives) < rungs[0].n_configurations:
            objectives.append(objective)
    plain = known.study.to_plain() | {
        "zip": [{"objective": objectives}],
        "seeds": list(range(limits.seed, limits.seed + rungs[-1].n_seeds)),
    }
    return dataclasses.replace(
        known,
        asked=known.asked | {"seconds": limits.seconds},
        study=study_from_plain(plain, "discovery"),
        seconds=sum(rung.seconds for rung in rungs),
        rungs=rungs,
        # Judged again from the files of the first rounds, because more may go on.
        results=(),
        notes=(*known.notes, "The budget was extended: runs that are finished count."),
        finalists=_name_finalists(known),
    )


def _name_finalists(known: Plan) -> tuple[str, ...]:
    """Return the configurations that reached the last round, if it was reached."""
    if len(known.results) < known.last_rung:
        return ()
    specs = known.rung_study(known.last_rung).runs()
    return tuple(dict.fromkeys(name_configuration(spec) for spec in specs))
