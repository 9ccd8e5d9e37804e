"""Objectives of a race, each with several strengths."""

import dataclasses
import typing
from collections.abc import Sequence
from typing import Any

from unbraid.data import AbstractDataset, DataSpec, Singles
from unbraid.foundation import resolve_file_names
from unbraid.models import AbstractSchedule, choose_objective
from unbraid.models.objectives import AbstractObjective, FactorVAE
from unbraid.studies import study_from_plain

from ._budget import OBJECTIVES, Limits
from ._proposal import (
    Proposal,
    base_settings,
    choose_strengths,
    measure_candidate,
    propose,
    relax,
)
from ._strength import bearable_strength


def read_objectives(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of objectives, with whole paths of own files.

    Args:
        names: Names of objectives whose strength is ``beta``, or of FactorVAE.

    Raises:
        ValueError: If a name is unknown or given twice, or if the objective has no such
            strength or needs more than single images.
    """
    whole = tuple(resolve_file_names(name.strip()) for name in names)
    if not whole or len(set(whole)) < len(whole):
        raise ValueError(
            "objectives must be one or more different names, got "
            f"{', '.join(whole) or 'none'}."
        )
    for name in whole:
        objective = choose_objective(name)
        if not isinstance(objective.sampler(), Singles):
            raise ValueError(
                f"discover has single images, but the objective {name!r} needs pairs, "
                "triplets or labels."
            )
        if _find_strength(objective) is None:
            raise ValueError(
                f"discover varies the strength beta of an objective, which {name!r} "
                "does not have."
            )
    return whole


def propose_objectives(
    data: DataSpec | str, dataset: AbstractDataset, limits: Limits
) -> Proposal:
    """Plan a race between other objectives than usual; see :func:`propose`.

    Args:
        data: Name or path and options of the data, as workers open them.
        dataset: The same data, opened.
        limits: Time and machine of the discovery, and the objectives.

    Raises:
        ValueError: If the time is too short for a configuration of each objective.
    """
    base = base_settings(data, dataset, limits.n_latents)
    usual, *own = (
        measure_candidate(base, {"name": name}, limits).per_step
        for name in (*OBJECTIVES, *limits.objectives)
    )
    slowdown = max(1.0, max(own) / usual)
    shorter = limits
    if limits.seconds is not None:
        shorter = dataclasses.replace(limits, seconds=limits.seconds / slowdown)
    try:
        proposal = propose(data, dataset, shorter)
        configurations = list_configurations(
            limits.objectives,
            bearable_strength(dataset),
            proposal.rungs[0].n_configurations,
        )
    except ValueError as error:
        raise ValueError(
            "discover: the budget is too short for a race between these objectives. A "
            f"step of the slowest takes {slowdown:.1f} times as long as one of "
            f"{OBJECTIVES[0]}. Use a larger --budget, or other objectives."
        ) from error
    plain = proposal.study.to_plain() | {"zip": [{"objective": configurations}]}
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=proposal.seconds * slowdown,
        rungs=tuple(
            rung.model_copy(update={"seconds": rung.seconds * slowdown})
            for rung in proposal.rungs
        ),
    )


def list_configurations(
    names: Sequence[str], bearable: float, n_configurations: int
) -> list[dict[str, Any]]:
    """Return objectives with their strengths, as plain data.

    Every objective gets the same strengths, which are relaxed during the run if its
    hyperparameter may be a schedule. The weight ``gamma`` of FactorVAE counts the total
    correlation beyond that of a VAE, so that ``gamma + 1`` is its strength.

    Args:
        names: Names of the objectives.
        bearable: Strength that the data can bear.
        n_configurations: Number of configurations, at least one per objective.

    Example:
        >>> found = list_configurations(["beta_vae", "factor_vae"], 20.0, 3)
        >>> [(each["name"], *list(each)[1:]) for each in found]
        [('beta_vae', 'beta'), ('factor_vae', 'gamma'), ('beta_vae', 'beta')]
        >>> found[0]["beta"]["value"], found[1]["gamma"]["value"]
        (12.0, 11.0)
    """
    if n_configurations < len(names):
        raise ValueError(
            f"There is time for {n_configurations} configurations, fewer than the "
            f"{len(names)} objectives."
        )
    strengths = choose_strengths(bearable, -(-n_configurations // len(names)))
    return [_configure(name, strength) for strength in strengths for name in names][
        :n_configurations
    ]


def _configure(name: str, strength: float) -> dict[str, Any]:
    """Return an objective with a strength, as plain data."""
    objective = choose_objective(name)
    hyperparameter = _find_strength(objective)
    assert hyperparameter is not None
    offset = -1.0 if hyperparameter == "gamma" else 0.0
    if not _may_be_schedule(objective, hyperparameter):
        return {"name": name, hyperparameter: strength + offset}
    return {"name": name, hyperparameter: relax(strength, offset)}


def _may_be_schedule(objective: AbstractObjective, name: str) -> bool:
    """Whether the type of a hyperparameter includes schedules, as ``Number`` does."""
    try:
        kind = typing.get_type_hints(type(objective))[name]
    except (NameError, TypeError):
        return False  # a type in the user's file that only a type checker can read
    return any(
        isinstance(part, type) and issubclass(part, AbstractSchedule)
        for part in (kind, *typing.get_args(kind))
    )


def _find_strength(objective: AbstractObjective) -> str | None:
    if isinstance(objective, FactorVAE):
        return "gamma"
    names = [field.name for field in dataclasses.fields(objective)]
    return "beta" if "beta" in names else None
