"""Running the tasks of an evaluation in processes, within a time limit."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tqdm import tqdm

from unbraid.foundation import count_jobs, format_duration

from ._catalog import METRICS
from ._score import Score
from ._tasks import Task, total_seconds

Key = tuple[str, str, str, int]
Outcome = tuple[Score, ...] | str
"""Scores, or the reason why there are none."""

# Seconds of work from which other processes are started.
_WORTH_PROCESSES = 8.0
# Scores first, since they are shown when they are done; intervals last.
_ROLES = ("value", "chance", "ideal", "replicate")
# Estimated seconds of finished work from which the speed of this machine is known.
_KNOWN_SPEED = 0.2


class _Result(NamedTuple):
    key: Key
    outcome: Outcome
    seconds: float


def run_tasks(
    tasks: Sequence[Task],
    *,
    n_jobs: int | None,
    budget: float | None = None,
    progress: bool | None = None,
) -> dict[Key, Outcome]:
    """Run tasks and return their results by key, without those over the budget.

    Args:
        tasks: Tasks to run. Values run first, short ones before long ones, then levels,
            then replicates.
        n_jobs: Number of processes, which are used only if there is enough to do.
        budget: Time limit in seconds. Tasks that would end later are not started.
        progress: Print scores when they are done: always, never, or only on a terminal
            (``None``).
    """
    order = sorted(
        tasks, key=lambda task: (_ROLES.index(task.role), task.metric.seconds)
    )
    seconds, workers = total_seconds(order), count_jobs(n_jobs)
    if seconds / workers <= _WORTH_PROCESSES:
        workers = 1
    budgeting = _Budget(budget, workers, order)
    results: Iterable[Any] = map(_call, budgeting.admit())
    if workers > 1:
        from joblib import Parallel, delayed  # slow to import

        # Processes instead of threads, because much of the work holds Python's lock,
        # and warnings are suppressed for all threads at once.
        parallel = Parallel(n_jobs=workers, return_as="generator")
        results = parallel(delayed(_call)(task) for task in budgeting.admit())
    is_shown = sys.stderr.isatty() if progress is None else progress
    about = format_duration(seconds / workers)
    limit = "" if budget is None else f", budget {format_duration(budget)}"
    if is_shown:
        tqdm.write(f"scoring takes about {about}{limit}", file=sys.stderr)
    hide = None if is_shown else True  # None shows it on a terminal
    bar = tqdm(results, total=len(order), desc="scoring", disable=hide, leave=False)
    outcomes = {}
    for result in bar:
        outcomes[result.key] = result.outcome
        budgeting.finish(result)
        if is_shown and result.key[2] == "value":
            _print_outcome(result)
    return outcomes


@dataclass
class _Budget:
    """Decides which tasks fit, from estimated times and the measured speed.

    Tasks of the same metric and role (of all representations, and all replicates) are
    only useful together, so all or none of them are started.
    """

    seconds: float | None
    workers: int
    tasks: Sequence[Task]
    start: float = field(default_factory=time.perf_counter)
    admitted: dict[Key, float] = field(default_factory=dict)
    expected: float = 0.0
    measured: float = 0.0

    def admit(self) -> Iterator[Task]:
        """Yield the tasks that fit, decided just before they start."""
        decisions: dict[tuple[str, str], bool] = {}
        for task in self.tasks:
            group = task.name, task.role
            if group not in decisions:
                decisions[group] = self._fits(
                    [each for each in self.tasks if (each.name, each.role) == group]
                )
            if decisions[group]:
                self.admitted[task.key] = task.seconds
                yield task

    def finish(self, result: _Result) -> None:
        """Update the measured speed with a finished task."""
        self.expected += self.admitted.pop(result.key)
        self.measured += result.seconds

    def _fits(self, group: Sequence[Task]) -> bool:
        if self.seconds is None:
            return True
        slowdown = 1.0
        if self.expected > _KNOWN_SPEED:
            slowdown = max(1.0, self.measured / self.expected)
        new = total_seconds(group) / min(len(group), self.workers)
        waiting = sum(list(self.admitted.values())) / self.workers
        elapsed = time.perf_counter() - self.start
        return elapsed + slowdown * (waiting + new) <= self.seconds


def _call(task: Task) -> _Result:
    start = time.perf_counter()
    outcome: Outcome
    try:
        table = task.table if task.rows is None else task.table.at(task.rows)
        outcome = task.metric.scores(
            table.codes, table.factors, task.seed, table.inputs
        )
    except ValueError as error:
        outcome = str(error)
    except Exception as error:
        # A user's function may fail in any way; other scores are still computed.
        if any(task.metric.function is m.function for m in METRICS.built_in.values()):
            raise
        outcome = f"{type(error).__name__}: {error}"
    seconds = time.perf_counter() - start
    if not isinstance(outcome, str):
        outcome = tuple(score.replace(seconds=seconds) for score in outcome)
    return _Result(task.key, outcome, seconds)


def _print_outcome(result: _Result) -> None:
    label, name, _, _ = result.key
    start = f"{label}: " if label else ""
    if isinstance(result.outcome, str):
        lines = [f"{start}{name}: no score. {result.outcome}"]
    else:
        lines = [f"{start}{score.name} {score:.4f}" for score in result.outcome]
    lines[-1] += f"  ({format_duration(result.seconds)})"
    for line in lines:
        tqdm.write(line, file=sys.stderr)
