"""What to try: configurations, seeds and steps that fit into a given time."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from unbraid.data import AbstractDataset, DataSpec
from unbraid.foundation import to_plain
from unbraid.models import SCHEDULES, Decay, schedule_ends
from unbraid.models.networks import NETWORKS
from unbraid.studies import Cost, RunSpec, Study, measure_run, study_from_plain
from unbraid.training import TrainingState, choose_recipe, find_last_layer

from ._budget import N_LATENTS, Limits
from ._plan import Rung
from ._rounds import (
    longest_race,
    seconds_of_default_race,
    seconds_of_smallest_race,
)
from ._strength import bearable_strength

Plain = dict[str, Any]

BATCH_SIZE = 64
_SHARES = (0.6, 1.2, 0.3, 2.4, 0.15, 4.8)
"""Strengths that are tried, as shares of what the data can bear, the best ones first
(``docs/recipes.md``)."""

_RELAXED = 0.25
"""Share of a strength that is left at the end of a run."""

_FALL, _FALLEN = 0.3, 0.7
"""Share of a run in which the strength falls, and share at which it has fallen."""

_LEAST_RATIO = 1.4
"""Ratio below which two strengths are alike."""

_TRACED_UNITS = 2_048
_ROWS_SCORED = 5_000
_LABELS_LOOKED_AT = 1_000_000


@dataclass(frozen=True)
class Proposal:
    """What a discovery will do.

    Attributes:
        study: All configurations with all seeds.
        seconds: Estimated duration.
        rungs: Rounds of the race between the configurations; empty if every run is
            trained to its end.
    """

    study: Study
    seconds: float
    rungs: tuple[Rung, ...] = ()

    @property
    def steps(self) -> int:
        """Steps of a run that is trained to its end."""
        return self.study.runs()[0].training.steps


def propose(
    data: DataSpec | str,
    dataset: AbstractDataset,
    limits: Limits,
) -> Proposal:
    """Plan a race between configurations that fits into the time.

    Several configurations start with two seeds each. After every round the better half
    goes on, and most of the time is spent on long runs of the last ones, with at least
    three seeds each. More time first buys longer runs, then more configurations, rounds
    and seeds, until none of these would help.

    Args:
        data: Name or path and options of the data, as workers open them.
        dataset: The same data, opened.
        limits: Time and machine of the discovery.

    Raises:
        ValueError: If the time is too short for anything.
    """
    base = base_settings(data, dataset, limits.n_latents)
    objective: Plain = {"name": "beta_tc_vae"}
    cost, n_workers = measure_candidate(base, objective, limits), limits.n_workers
    seconds = limits.choose_seconds(seconds_of_default_race(cost, n_workers))
    rungs = longest_race(cost, seconds, n_workers)
    if not rungs:
        raise limits.refuse(seconds, seconds_of_smallest_race(cost, n_workers))
    strengths = choose_strengths(bearable_strength(dataset), rungs[0].n_configurations)
    rate = choose_recipe("small", dataset.image_shape).learning_rate
    training = {"steps": rungs[-1].steps, "learning_rate": to_plain(rate, SCHEDULES)}
    plain = base | {
        "training": base["training"] | training,
        "zip": [{"objective": [objective | {"beta": relax(s)} for s in strengths]}],
        "seeds": list(range(limits.seed, limits.seed + rungs[-1].n_seeds)),
    }
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=sum(rung.seconds for rung in rungs),
        rungs=rungs,
    )


def choose_strengths(bearable: float, n_strengths: int) -> list[float]:
    """Choose values of beta for beta-TCVAE, in increasing order.

    Args:
        bearable: Strength that the data can bear; see :func:`bearable_strength`.
        n_strengths: Number of values.

    Example:
        >>> choose_strengths(20.0, 4), choose_strengths(2.0, 4)
        ([6.0, 12.0, 24.0, 48.0], [1.2, 2.4, 4.8, 9.6])
    """
    betas: list[float] = []
    for share in _SHARES:
        # Below 1 the total correlation would count less than in a plain VAE.
        beta = max(1.0, float(f"{share * bearable:.2g}"))
        if all(max(beta / b, b / beta) >= _LEAST_RATIO for b in betas):
            betas.append(beta)
    while len(betas) < n_strengths:
        betas.append(2 * max(betas))
    return sorted(betas[:n_strengths])


def relax(strength: float, offset: float = 0.0) -> Plain | float:
    """Return the schedule of a strength that falls to about a quarter, at least 1.

    Under a strong regularization, latents align with factors; when it is relaxed, the
    model learns the details that it had to leave out.

    Args:
        strength: Strength until the fall begins.
        offset: Added to all values, for a hyperparameter that is counted from another
            number than the strength.

    Returns:
        A ``Decay`` as plain data; a number if the strength is at most 1.

    Example:
        >>> relax(1.0), relax(3.0, offset=-1.0)["value"], relax(14.0)["end"]
        (1.0, 2.0, 3.5)
    """
    least = max(1.0, float(f"{_RELAXED * strength:.2g}"))
    if least >= strength:
        return strength + offset
    fall = Decay(
        value=strength + offset, end=least + offset, share=_FALL, until=_FALLEN
    )
    return to_plain(fall, SCHEDULES)


def base_settings(
    data: DataSpec | str, dataset: AbstractDataset, n_latents: int = N_LATENTS
) -> Plain:
    """Return the settings that all runs share."""
    recipe = choose_recipe("small", dataset.image_shape)
    plain = {
        "name": "discovery",
        "data": str(data),
        "network": to_plain(recipe.network, NETWORKS),
        "training": {
            "n_latents": n_latents,
            "batch_size": BATCH_SIZE,
            "learning_rate": schedule_ends(recipe.learning_rate)[0],
        },
        "evaluation": {
            "metrics": ["mig"] if _has_usable_labels(dataset) else ["active_units"],
            "rows": _ROWS_SCORED,
        },
    }
    spec = RunSpec.read({key: plain[key] for key in plain if key != "name"}, "discover")
    with torch.device("meta"):  # only the widths of its layers are needed
        model = TrainingState.create(spec.training_spec(dataset), device="meta").model
        layer = find_last_layer(model, _TRACED_UNITS)
    traces = {"n_observations": 64, "n_snapshots": 20, "layer": layer}
    return plain | {"traces": traces}


def _has_usable_labels(dataset: AbstractDataset) -> bool:
    """Whether every factor is known and varies; others are no use to show a score."""
    factors = dataset.factors(np.arange(min(len(dataset), _LABELS_LOOKED_AT)))
    if factors is None:
        return False
    known = np.asarray(factors, dtype=np.float64)
    return bool(np.isfinite(known).all() and (np.ptp(known, axis=0) > 0).all())


def measure_candidate(base: Plain, objective: Plain, limits: Limits) -> Cost:
    """Measure what a run with this objective costs."""
    shared = {key: value for key, value in base.items() if key != "name"}
    spec = RunSpec.read({**shared, "objective": objective}, "discover")
    return measure_run(spec, device=limits.device)
