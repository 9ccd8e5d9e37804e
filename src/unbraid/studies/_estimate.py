"""Time and disk space that a study will take, estimated before it begins."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from unbraid.data import open_cached
from unbraid.metrics import resolve_metrics
from unbraid.training import measure_training

from ._specification import RunSpec

# Kinds of runs that are timed; of more, as many are taken evenly.
_TIMED = 12
_SECONDS = 20.0
"""After which no further kind is timed."""


@dataclass(frozen=True)
class Estimate:
    """What runs will cost.

    Attributes:
        seconds: Time of all runs together on one core.
        n_bytes: Disk space of all runs together.
        n_runs: Number of runs.
    """

    seconds: float
    n_bytes: int
    n_runs: int

    def on(self, n_workers: int) -> float:
        """Return the seconds until the last run ends.

        A run takes one worker, so that further workers do not make it faster.

        Args:
            n_workers: Runs at once, as an executor gives it.

        Example:
            >>> cost = Estimate(seconds=50.0, n_bytes=0, n_runs=5)
            >>> cost.on(1), cost.on(2), cost.on(100)
            (50.0, 30.0, 10.0)
        """
        if not self.n_runs:
            return 0.0
        return self.seconds / self.n_runs * math.ceil(self.n_runs / n_workers)


class Cost(NamedTuple):
    """What one run costs.

    Attributes:
        per_step: Seconds of a step.
        fixed: Seconds of everything else.
        n_bytes: Disk space in bytes.
    """

    per_step: float
    fixed: float
    n_bytes: int


def estimate(specs: Sequence[RunSpec]) -> Estimate:
    """Estimate the time and size of runs from a few steps of some of them.

    Runs of one objective, network and dataset are timed once. The time of the scores
    is what the catalogue of metrics says.

    Args:
        specs: Settings of the runs.
    """
    kinds: dict[str, list[RunSpec]] = {}
    for spec in specs:
        kinds.setdefault(_kind(spec), []).append(spec)
    groups = list(kinds.values())
    every = max(1, len(groups) // _TIMED)
    seconds, n_bytes, n_timed, began = 0.0, 0, 0, time.monotonic()
    for group in groups[::every]:
        if n_timed and time.monotonic() - began > _SECONDS:
            break
        try:
            cost = measure_run(group[0])
        except Exception:  # the run will fail with it, and be a row of the table
            continue
        steps = sum(_n_steps(spec) for spec in group)
        seconds += cost.per_step * steps + cost.fixed * len(group)
        n_bytes += cost.n_bytes * len(group)
        n_timed += len(group)
    share = len(specs) / max(n_timed, 1)
    return Estimate(seconds * share, int(n_bytes * share), len(specs))


def _n_steps(spec: RunSpec) -> float:
    """Return the steps of a run, or of all models of a population together."""
    if spec.evolution is None:
        return spec.training.steps
    n_rows = len(open_cached(spec.data).dataset)
    return spec.evolution.expected_images(n_rows) / spec.training.batch_size


def _kind(spec: RunSpec) -> str:
    plain = spec.to_plain()
    objective = {"name": plain["objective"]["name"]}
    varied = ("batch_size", "n_latents", "optimiser")
    training = {name: plain["training"][name] for name in varied}
    parts = {name: plain[name] for name in ("data", "network", "evaluation")}
    return repr((objective, training, parts))


def measure_run(spec: RunSpec, *, device: str = "cpu") -> Cost:
    """Measure what a run costs, from its first steps.

    Args:
        spec: Settings of the run.
        device: Device to train on.
    """
    data = open_cached(spec.data)
    statistics = data.statistics if spec.training.standardize else None
    settings = spec.training_spec(data.dataset, statistics)
    cost = measure_training(settings, data.dataset, device=device)
    per_step = cost.per_step
    # Encoding an image takes about a third of the time of training on it.
    encoding = per_step / (3 * spec.training.batch_size) * spec.evaluation.rows
    scores = spec.score_settings()
    n_scores = 1 if scores is None else 1 + len(scores.steps_of(spec.training.steps))
    fixed = n_scores * (encoding + _scoring_seconds(spec))
    return Cost(per_step, fixed, cost.n_bytes)


def _scoring_seconds(spec: RunSpec) -> float:
    """Estimate the time of scoring from the catalog of metrics."""
    have_factors = bool(open_cached(spec.data).dataset.factor_names)
    metrics = resolve_metrics(spec.evaluation.metrics, have_factors=have_factors)
    # The catalog has the time on 15,000 rows of 10 latents.
    size = min(spec.evaluation.rows / 15_000, 1.0) * spec.training.n_latents / 10
    return size * sum(metric.seconds for metric in metrics.values())
