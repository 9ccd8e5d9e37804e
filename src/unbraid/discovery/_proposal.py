"""What to try: configurations, seeds and steps that fit into a given time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unbraid.data import AbstractDataset
from unbraid.durations import in_words
from unbraid.studies import RunSpec, Study, study_from_plain
from unbraid.studies._estimate import Cost, measure_run
from unbraid.training import TrainingState
from unbraid.training._trace import last_layer_within

from ._plan import Rung
from ._strength import bearable_strength

Plain = dict[str, Any]

N_LATENTS = 10
FEWEST_STEPS, MOST_STEPS = 2_000, 60_000
GOOD_STEPS = 15_000
"""Below it, fewer configurations are tried for longer."""

SHARE = 0.85
"""Share of the time for training; the rest is for ranking and writing."""

FIXED_SECONDS = 8.0
"""Time to start processes, read data and draw."""

DEFAULT_SECONDS = (60.0, 1800.0)
_STEP_ROUNDING = 100
_WEAKEST = 0.05
"""Weakest strength that is tried, as a share of what the data can bear."""

_SMALL = 3 * 32 * 32
"""Numbers in an image that is small."""

_TRACED_UNITS = 2_048
_ROWS_SCORED = 5_000
_LABELS_LOOKED_AT = 1_000_000


class _Round(NamedTuple):
    """A round of a race, with its steps as a share of a whole run."""

    share: float
    n_configurations: int
    n_seeds: int


# Races from much time to little. All rounds but the last end before the learning rate
# falls, so that a run may go on after any of them.
_RACES = (
    (_Round(1 / 8, 6, 3), _Round(1 / 3, 3, 4), _Round(1, 2, 5)),
    (_Round(1 / 6, 5, 2), _Round(1 / 2, 3, 3), _Round(1, 2, 4)),
    (_Round(1 / 5, 4, 2), _Round(1, 2, 3)),
    (_Round(1 / 4, 3, 2), _Round(1, 1, 3)),
    (_Round(1 / 3, 2, 2), _Round(1, 1, 3)),
)
_DEFAULT_RACE = _RACES[1]


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
    text: str,
    dataset: AbstractDataset,
    *,
    seconds: float | None,
    n_workers: int,
    seed: int = 0,
    device: str = "cpu",
) -> Proposal:
    """Plan a race between configurations that fits into the time.

    Several configurations start with two seeds each. After every round the better half
    goes on, and most of the time is spent on long runs of the last ones, with at least
    three seeds each. More time first buys longer runs, then more configurations, rounds
    and seeds, until none of these would help.

    Args:
        text: Name of the data, as workers open it.
        dataset: The same data, opened.
        seconds: Time until the end. ``None`` takes what a good choice needs, from one
            minute to thirty.
        n_workers: Runs at once.
        seed: Seed of the first run of each configuration.
        device: Device on which a step is timed.

    Raises:
        ValueError: If the time is too short for anything.
    """
    base = base_settings(text, dataset)
    unit = unit_strength(dataset)
    objective: Plain = {"name": "beta_tc_vae", "beta": unit}
    cost = measure_candidate(base, objective, device)
    if seconds is None:
        wanted = _seconds(_DEFAULT_RACE, GOOD_STEPS, cost, n_workers)
        low, high = DEFAULT_SECONDS
        seconds = min(max(wanted / SHARE + FIXED_SECONDS, low), high)
    time = (seconds - FIXED_SECONDS) * SHARE
    races = [(race, _fit_steps(race, time, cost, n_workers)) for race in _RACES]
    race, steps = next((found for found in races if found[1] >= GOOD_STEPS), races[-1])
    if steps < FEWEST_STEPS:
        needed = _seconds(race, FEWEST_STEPS, cost, n_workers) / SHARE + FIXED_SECONDS
        raise ValueError(
            f"discover needs a budget of at least {in_words(needed)} for these data on "
            f"{n_workers} cores, got {in_words(seconds)}. Use a larger --budget, or "
            "smaller images."
        )
    betas = [unit * 2**power for power in range(race[0].n_configurations)]
    rate = {"name": "decay", "value": base["training"]["learning_rate"]}
    plain = base | {
        "training": base["training"] | {"steps": steps, "learning_rate": rate},
        "zip": [{"objective": [objective | {"beta": beta} for beta in betas]}],
        "seeds": list(range(seed, seed + race[-1].n_seeds)),
    }
    rungs = _rungs(race, steps, cost, n_workers)
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=sum(rung.seconds for rung in rungs),
        rungs=rungs,
    )


def unit_strength(dataset: AbstractDataset) -> float:
    """Weakest beta of beta-TCVAE that is tried, with two significant digits."""
    return max(1.0, float(f"{_WEAKEST * bearable_strength(dataset):.2g}"))


def base_settings(text: str, dataset: AbstractDataset) -> Plain:
    """Return the settings that all runs share."""
    n_numbers = math.prod(dataset.image_shape)
    plain = {
        "name": "discovery",
        "data": text,
        "network": _network(n_numbers),
        "training": {
            "n_latents": N_LATENTS,
            "batch_size": 64,
            "learning_rate": 1e-3 if n_numbers <= _SMALL else 5e-4,
        },
        "evaluation": {
            "metrics": ["mig"] if _has_usable_labels(dataset) else ["active_units"],
            "rows": _ROWS_SCORED,
        },
    }
    spec = RunSpec.read({key: plain[key] for key in plain if key != "name"}, "discover")
    model = TrainingState.create(spec.training_spec(dataset), device="cpu").model
    layer = last_layer_within(model, _TRACED_UNITS)
    traces = {"n_observations": 64, "n_snapshots": 20, "layer": layer}
    return plain | {"traces": traces}


def _has_usable_labels(dataset: AbstractDataset) -> bool:
    """Whether every factor is known and varies; others are no use to show a score."""
    factors = dataset.factors(np.arange(min(len(dataset), _LABELS_LOOKED_AT)))
    if factors is None:
        return False
    known = np.asarray(factors, dtype=np.float64)
    return bool(np.isfinite(known).all() and (np.ptp(known, axis=0) > 0).all())


def _network(n_numbers: int) -> Plain:
    """Dense for small images, ten times as fast there as a convolutional one."""
    if n_numbers > _SMALL:
        return {"name": "auto"}
    width = 128 if n_numbers <= _SMALL // 4 else 256
    return {"name": "dense", "widths": [width, width]}


def measure_candidate(base: Plain, objective: Plain, device: str) -> Cost:
    """Measure what a run with this objective costs."""
    shared = {key: value for key, value in base.items() if key != "name"}
    spec = RunSpec.read({**shared, "objective": objective}, "discover")
    return measure_run(spec, device=device)


def _rungs(
    race: Sequence[_Round], steps: int, cost: Cost, n_workers: int
) -> tuple[Rung, ...]:
    """Turn shares of a run into steps, and estimate the time of each round."""
    rungs, before, n_seeds = [], 0, race[0].n_seeds
    for this in race:
        until = steps if this.share == 1 else _rounded(this.share * steps)
        n_old = this.n_configurations * min(n_seeds, this.n_seeds)
        n_new = this.n_configurations * this.n_seeds - n_old
        fixed = cost.fixed if this.share == 1 else 0.0
        # Seeds that join in a later round begin at its start, from step 0.
        work = cost.per_step * (n_old * (until - before) + n_new * until)
        work += fixed * (n_old + n_new)
        at_once = _runs_at_once(n_old + n_new, n_workers)
        rungs.append(
            Rung(
                steps=until,
                n_configurations=this.n_configurations,
                n_seeds=this.n_seeds,
                seconds=work / at_once,
            )
        )
        before, n_seeds = until, this.n_seeds
    return tuple(rungs)


def _rounded(steps: float) -> int:
    """Round down to whole records of the history, at least one."""
    return max(int(steps) // _STEP_ROUNDING, 1) * _STEP_ROUNDING


def _runs_at_once(n_runs: int, n_workers: int) -> float:
    """Average number of runs at once: the last turn may leave workers idle."""
    return n_runs / math.ceil(n_runs / n_workers)


def _seconds(race: Sequence[_Round], steps: int, cost: Cost, n_workers: int) -> float:
    return sum(rung.seconds for rung in _rungs(race, steps, cost, n_workers))


def _fit_steps(race: Sequence[_Round], time: float, cost: Cost, n_workers: int) -> int:
    """Return the steps of a whole run with which the race takes this time."""
    # The time is linear in the steps, but for their rounding.
    one, two = (_seconds(race, n * MOST_STEPS, cost, n_workers) for n in (1, 2))
    per_step = (two - one) / MOST_STEPS
    steps = (time - (one - per_step * MOST_STEPS)) / per_step
    if steps < _STEP_ROUNDING:
        return 0
    return min(_rounded(steps), MOST_STEPS)
