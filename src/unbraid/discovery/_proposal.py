"""What to try: configurations, seeds and steps that fit into a given time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from unbraid.data import AbstractDataset, DataSpec
from unbraid.foundation import format_duration, to_plain
from unbraid.models import SCHEDULES, schedule_ends
from unbraid.models.networks import NETWORKS
from unbraid.studies import Cost, RunSpec, Study, measure_run, study_from_plain
from unbraid.training import TrainingState, choose_recipe, find_last_layer

from ._plan import Rung
from ._strength import bearable_strength

Plain = dict[str, Any]

N_LATENTS, BATCH_SIZE = 10, 64
MOST_STEPS = 100_000
SHARE = 0.9
"""Share of the time for training; the rest is for ranking and writing."""

FIXED_SECONDS = 10.0
"""Time to start processes, read data and draw."""

_MARGIN = 1.1
"""Factor on a budget that is recommended: timings vary, and its text is rounded."""

DEFAULT_SECONDS = (60.0, 1800.0)
_STEP_ROUNDING = 100
_SHARES = (0.2, 0.4, 0.1, 0.8, 0.05, 1.6)
"""Strengths that are tried, as shares of what the data can bear, the best ones first
(``docs/recipes.md``)."""

_LEAST_RATIO = 1.4
"""Ratio below which two strengths are alike."""

_TRACED_UNITS = 2_048
_ROWS_SCORED = 5_000
_LABELS_LOOKED_AT = 1_000_000


class _Round(NamedTuple):
    """A round of a race.

    Attributes:
        most_steps: Step at which its runs pause, if whole runs are long enough.
        share: Largest share of a whole run before the pause.
        n_configurations: Configurations that take part.
        n_seeds: Least number of runs of each configuration.
    """

    most_steps: int
    share: float
    n_configurations: int
    n_seeds: int


def _last(n_configurations: int, n_seeds: int) -> _Round:
    return _Round(MOST_STEPS, 1.0, n_configurations, n_seeds)


class _Race(NamedTuple):
    """Rounds of a race, and the steps of a whole run from which it is worth while."""

    least_steps: int
    rounds: tuple[_Round, ...]


# Races from much time to little. The first rounds tell which strengths are wrong; most
# of the time is spent on runs of those that remain, because longer runs are better
# (docs/recipes.md). That one finalist is better than two has not been measured. All
# rounds but the last end before the learning rate falls, so that a run may continue
# after any of them.
_RACES = (
    _Race(40_000, (_Round(10_000, 0.15, 5, 2), _Round(25_000, 0.4, 3, 3), _last(2, 4))),
    _Race(15_000, (_Round(10_000, 0.25, 3, 2), _last(1, 4))),
    _Race(8_000, (_Round(3_000, 0.3, 3, 2), _last(1, 3))),
    _Race(2_000, (_Round(3_000, 0.4, 2, 2), _last(1, 3))),
)
_DEFAULT_RACE, _DEFAULT_STEPS = _RACES[1].rounds, 40_000
_MOST_SEEDS = 8


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
    *,
    seconds: float | None,
    n_workers: int,
    seed: int = 0,
    device: str = "cpu",
    n_latents: int = N_LATENTS,
) -> Proposal:
    """Plan a race between configurations that fits into the time.

    Several configurations start with two seeds each. After every round the better half
    goes on, and most of the time is spent on long runs of the last ones, with at least
    three seeds each. More time first buys longer runs, then more configurations, rounds
    and seeds, until none of these would help.

    Args:
        data: Name or path and options of the data, as workers open them.
        dataset: The same data, opened.
        seconds: Time until the end. ``None`` takes what a good choice needs, from one
            minute to thirty.
        n_workers: Runs at once.
        seed: Seed of the first run of each configuration.
        device: Device on which a step is timed.
        n_latents: Number of latents of each model.

    Raises:
        ValueError: If the time is too short for anything.
    """
    base = base_settings(data, dataset, n_latents)
    objective: Plain = {"name": "beta_tc_vae"}
    cost = measure_candidate(base, objective, device)
    if seconds is None:
        wanted = _seconds(_DEFAULT_RACE, _DEFAULT_STEPS, cost, n_workers)
        low, high = DEFAULT_SECONDS
        seconds = min(max(wanted / SHARE + FIXED_SECONDS, low), high)
    rungs = longest_race(cost, seconds, n_workers)
    if not rungs:
        smallest = _RACES[-1]
        needed = _seconds(smallest.rounds, smallest.least_steps, cost, n_workers)
        raise ValueError(
            "discover needs a budget of at least "
            f"{format_duration(_MARGIN * (needed / SHARE + FIXED_SECONDS))} for these "
            f"data with {n_workers} runs at once, got {format_duration(seconds)}. Use "
            "a larger --budget, or smaller images."
        )
    betas = choose_strengths(bearable_strength(dataset), rungs[0].n_configurations)
    rate = choose_recipe("small", dataset.image_shape).learning_rate
    training = {"steps": rungs[-1].steps, "learning_rate": to_plain(rate, SCHEDULES)}
    plain = base | {
        "training": base["training"] | training,
        "zip": [{"objective": [objective | {"beta": beta} for beta in betas]}],
        "seeds": list(range(seed, seed + rungs[-1].n_seeds)),
    }
    return Proposal(
        study=study_from_plain(plain, "discovery"),
        seconds=sum(rung.seconds for rung in rungs),
        rungs=rungs,
    )


def choose_strengths(bearable: float, n_strengths: int) -> list[float]:
    """Choose values of beta for beta-TCVAE, in increasing order.

    Args:
        bearable: Largest strength that the data can bear; see
            :func:`bearable_strength`.
        n_strengths: Number of values.

    Example:
        >>> choose_strengths(40.0, 4), choose_strengths(5.0, 4)
        ([4.0, 8.0, 16.0, 32.0], [1.0, 2.0, 4.0, 8.0])
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
    model = TrainingState.create(spec.training_spec(dataset), device="cpu").model
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


def measure_candidate(base: Plain, objective: Plain, device: str) -> Cost:
    """Measure what a run with this objective costs."""
    shared = {key: value for key, value in base.items() if key != "name"}
    spec = RunSpec.read({**shared, "objective": objective}, "discover")
    return measure_run(spec, device=device)


def longest_race(cost: Cost, seconds: float, n_workers: int) -> tuple[Rung, ...]:
    """Return the rounds of the largest race that fits into the time; none if none does.

    Args:
        cost: Cost of a run.
        seconds: Time of the discovery.
        n_workers: Runs at once.
    """
    time = (seconds - FIXED_SECONDS) * SHARE
    for race in _RACES:
        steps = _fit_steps(race.rounds, time, cost, n_workers)
        if steps >= race.least_steps:
            return _rungs(race.rounds, steps, cost, n_workers)
    return ()


def seconds_of_good_race(cost: Cost, n_workers: int) -> float:
    """Return the time of a discovery whose runs are long enough for a good choice."""
    race = _RACES[2]
    needed = _seconds(race.rounds, race.least_steps, cost, n_workers)
    return needed / SHARE + FIXED_SECONDS


def _rungs(
    race: Sequence[_Round], steps: int, cost: Cost, n_workers: int
) -> tuple[Rung, ...]:
    """Turn shares of a run into steps, and estimate the time of each round."""
    rungs, before, n_before = [], 0, 0
    for this in race:
        is_last = this is race[-1]
        n_seeds = _fill_seeds(this, n_workers) if is_last else this.n_seeds
        until = steps
        if not is_last:
            until = _rounded(min(this.most_steps, this.share * steps))
        n_old = this.n_configurations * min(n_before, n_seeds)
        n_new = this.n_configurations * n_seeds - n_old
        # Seeds that join in a later round begin with it, from step 0.
        work = cost.per_step * (n_old * (until - before) + n_new * until)
        work += (cost.fixed if is_last else 0.0) * (n_old + n_new)
        rungs.append(
            Rung(
                steps=until,
                n_configurations=this.n_configurations,
                n_seeds=n_seeds,
                seconds=work / _runs_at_once(n_old + n_new, n_workers),
            )
        )
        before, n_before = until, n_seeds
    return tuple(rungs)


def _fill_seeds(last: _Round, n_workers: int) -> int:
    """Return the number of seeds that leaves no worker idle in the last round."""
    n_runs = last.n_configurations * last.n_seeds
    n_filled = math.ceil(n_runs / n_workers) * n_workers
    return max(last.n_seeds, min(n_filled // last.n_configurations, _MOST_SEEDS))


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
    low, high = 0, MOST_STEPS // _STEP_ROUNDING
    while low < high:
        middle = (low + high + 1) // 2
        if _seconds(race, middle * _STEP_ROUNDING, cost, n_workers) <= time:
            low = middle
        else:
            high = middle - 1
    return low * _STEP_ROUNDING
