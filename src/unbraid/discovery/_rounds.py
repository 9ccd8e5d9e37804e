"""Rounds of a race between configurations that fit into a given time."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from unbraid.studies import Cost

from ._budget import budget_for, training_time
from ._plan import Rung

MOST_STEPS = 100_000
_STEP_ROUNDING = 100


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
# rounds but the last end before the learning rate falls. They end before the strength
# falls too, so that models are compared under the strong regularization that aligns
# their latents. Schedules are those of the whole run, to the end of which every pause
# can be continued.
_RACES = (
    _Race(40_000, (_Round(10_000, 0.15, 5, 2), _Round(25_000, 0.4, 3, 3), _last(2, 4))),
    _Race(15_000, (_Round(10_000, 0.25, 3, 2), _last(1, 4))),
    _Race(8_000, (_Round(3_000, 0.3, 3, 2), _last(1, 3))),
    _Race(2_000, (_Round(3_000, 0.4, 2, 2), _last(1, 3))),
)
_DEFAULT_RACE, _DEFAULT_STEPS = _RACES[1].rounds, 40_000
_MOST_SEEDS, _MOST_CONFIGURATIONS = 8, 6


def longest_race(cost: Cost, seconds: float, n_workers: int) -> tuple[Rung, ...]:
    """Return the rounds of the largest race that fits into the time; none if none does.

    Args:
        cost: Cost of a run.
        seconds: Time of the discovery.
        n_workers: Runs at once.
    """
    time = training_time(seconds)
    for race in _RACES:
        steps = _fit_steps(race.rounds, time, cost, n_workers)
        if steps >= race.least_steps:
            return _rungs(race.rounds, steps, cost, n_workers)
    return ()


def extend_race(
    rungs: Sequence[Rung], cost: Cost, seconds: float, n_workers: int
) -> tuple[Rung, ...]:
    """Return the largest race that fits into the time and contains another one.

    Runs keep their length and their pauses, so that all runs of the smaller race are
    part of the larger one. It has more configurations that reach the end, more of them
    in the first round, and more seeds.

    Args:
        rungs: Rounds of the smaller race.
        cost: Cost of a run.
        seconds: Time of the discovery, with what the smaller race took.
        n_workers: Runs at once.
    """
    time, best = training_time(seconds), tuple(rungs)
    first, last = rungs[0], rungs[-1]
    for n_last in range(last.n_configurations, first.n_configurations + 1):
        for n_more in range(_MOST_CONFIGURATIONS - first.n_configurations + 1):
            for n_seeds in range(last.n_seeds, _MOST_SEEDS + 1):
                sizes = [
                    (max(rung.n_configurations, n_last), rung.n_seeds)
                    for rung in rungs[:-1]
                ]
                sizes[:1] = [(first.n_configurations + n_more, first.n_seeds)]
                sizes[len(rungs) - 1 :] = [(n_last, n_seeds)]
                race = _price([rung.steps for rung in rungs], sizes, cost, n_workers)
                if sum(rung.seconds for rung in race) <= time:
                    best = max(best, race, key=_size)
    return best


def _size(race: Sequence[Rung]) -> tuple[int, int, int]:
    """Return the finished runs of a race, its finalists, and its configurations."""
    last = race[-1]
    n_runs = last.n_configurations * last.n_seeds
    return n_runs, last.n_configurations, race[0].n_configurations


def seconds_of_good_race(cost: Cost, n_workers: int) -> float:
    """Return the time of a discovery whose runs are long enough for a good choice."""
    race = _RACES[2]
    return budget_for(_seconds(race.rounds, race.least_steps, cost, n_workers))


def seconds_of_default_race(cost: Cost, n_workers: int) -> float:
    """Return the training time of the race that is planned without a budget."""
    return _seconds(_DEFAULT_RACE, _DEFAULT_STEPS, cost, n_workers)


def seconds_of_smallest_race(cost: Cost, n_workers: int) -> float:
    """Return the training time of the smallest race that is worthwhile."""
    race = _RACES[-1]
    return _seconds(race.rounds, race.least_steps, cost, n_workers)


def _rungs(
    race: Sequence[_Round], steps: int, cost: Cost, n_workers: int
) -> tuple[Rung, ...]:
    """Turn shares of a run into steps, and estimate the time of each round."""
    pauses = [_rounded(min(this.most_steps, this.share * steps)) for this in race[:-1]]
    sizes = [(this.n_configurations, this.n_seeds) for this in race[:-1]]
    last = race[-1]
    sizes.append((last.n_configurations, _fill_seeds(last, n_workers)))
    return _price([*pauses, steps], sizes, cost, n_workers)


def _price(
    steps: Sequence[int],
    sizes: Sequence[tuple[int, int]],
    cost: Cost,
    n_workers: int,
) -> tuple[Rung, ...]:
    """Estimate the time of each round.

    Args:
        steps: Last step of each round.
        sizes: Configurations and seeds of each round.
        cost: Cost of a run.
        n_workers: Runs at once.
    """
    rungs, before, n_before = [], 0, 0
    for until, (n_configurations, n_seeds) in zip(steps, sizes, strict=True):
        n_old = n_configurations * min(n_before, n_seeds)
        n_new = n_configurations * n_seeds - n_old
        # Seeds that join in a later round begin with it, from step 0.
        work = cost.per_step * (n_old * (until - before) + n_new * until)
        work += (cost.fixed if len(rungs) == len(steps) - 1 else 0.0) * (n_old + n_new)
        rungs.append(
            Rung(
                steps=until,
                n_configurations=n_configurations,
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
