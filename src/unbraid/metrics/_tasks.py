"""Tasks of an evaluation, which are calls of metrics, and their estimated cost."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._grid import is_complete_grid
from ._inputs import Factors
from ._metric import Input, Metric
from ._observation_distance import ObservationDistance
from .supervised._traversals import half_of_traversals

REPLICATES = 8
# Largest number of rows of a replicate; the spread is scaled to the whole table.
_REPLICATE_ROWS = 20_000
# Rows that metrics draw which do not use all of them.
_DRAWN_ROWS = 15_000
# Latents and classes of the table on which the costs in the catalog were measured.
_USUAL_LATENTS = 10
_USUAL_CLASSES = 113
# Smallest number of rows from which a spread is estimated.
FEWEST_ROWS = 50
# Processor seconds of replicates up to which a metric has an interval by default.
QUICK_SECONDS = 10.0


@dataclass(frozen=True, eq=False)
class Table:
    """Codes and factors of the same rows, shared by all tasks that use them.

    Attributes:
        codes: Codes, ``(n_rows, n_latents)``.
        factors: Factors of the same rows, if they are known.
        log_variances: Log-variances of the posteriors, of the shape of the codes.
        distance: Distance between the observations behind two rows.
    """

    codes: NDArray[np.float64]
    factors: Factors | None
    log_variances: NDArray[np.floating] | None = None
    distance: ObservationDistance | None = None

    @cached_property
    def is_grid(self) -> bool:
        """Whether every combination of factor values has exactly one row."""
        return self.factors is not None and is_complete_grid(self.factors)

    @cached_property
    def n_classes(self) -> int:
        """Number of outputs of predictors: one per class or continuous factor."""
        if self.factors is None:
            return _USUAL_CLASSES
        pairs = zip(self.factors.kinds, self.factors.sizes, strict=True)
        return sum(1 if kind == "continuous" else size for kind, size in pairs)

    @property
    def inputs(self) -> dict[Input, Any]:
        """What metrics may need besides codes and factors."""
        return {"log_variances": self.log_variances, "distance": self.distance}

    def at(self, rows: NDArray[np.int64]) -> "Table":
        """Return a copy of some rows."""
        return Table(
            self.codes[rows],
            self.factors and self.factors.at(rows),
            None if self.log_variances is None else self.log_variances[rows],
            self.distance and self.distance.at(rows),
        )


@dataclass(frozen=True, eq=False)
class Task:
    """One call of a metric: on the data, on shuffled or ideal data, or on a part.

    A task refers to a table, and copies rows only when it runs.

    Attributes:
        label: Name of the representation, if there are several.
        name: Name of the metric.
        metric: The metric to call.
        role: ``"value"``, ``"chance"``, ``"ideal"`` or ``"replicate"``.
        number: Number of the replicate.
        table: Codes and factors.
        seed: Seed of the call.
        rows: Rows of the table to use; ``None`` for all.
    """

    label: str
    name: str
    metric: Metric
    role: str
    number: int
    table: Table
    seed: int
    rows: NDArray[np.int64] | None = None

    @property
    def key(self) -> tuple[str, str, str, int]:
        """Key that identifies the task."""
        return self.label, self.name, self.role, self.number

    @property
    def seconds(self) -> float:
        """Estimated processor time, from the cost in the catalog."""
        n_rows = len(self.table.codes) if self.rows is None else len(self.rows)
        if self.metric.rows != "all":
            n_rows = min(n_rows, _DRAWN_ROWS)
        size = n_rows / _DRAWN_ROWS * self.table.codes.shape[1] / _USUAL_LATENTS
        if self.metric.per_class:
            size *= self.table.n_classes / _USUAL_CLASSES
        return self.metric.seconds * size


def total_seconds(tasks: Iterable[Task]) -> float:
    """Return the estimated processor time of tasks."""
    return math.fsum(task.seconds for task in tasks)


@dataclass(frozen=True, eq=False)
class Plan:
    """Every call for the scores of one representation.

    Attributes:
        metrics: Metrics by name.
        table: Codes and factors.
        traversals: A separate table for metrics along traversals, if there is one.
        tasks: The calls.
        seed: Seed of the evaluation.
        intervals: Whether intervals were requested; ``None`` for quick ones only.
        label: Name of the representation, if there are several.
    """

    metrics: Mapping[str, Metric]
    table: Table
    traversals: Table | None
    tasks: Sequence[Task]
    seed: int
    intervals: bool | None
    label: str

    def table_of(self, name: str) -> Table:
        """Return the table that a metric uses."""
        return _choose_table(self.metrics[name], self.table, self.traversals)

    def tasks_of(self, name: str, role: str) -> list[Task]:
        """Return the tasks of one metric in one role."""
        return [task for task in self.tasks if (task.name, task.role) == (name, role)]


def make_plan(
    metrics: Mapping[str, Metric],
    table: Table,
    traversals: Table | None = None,
    *,
    seed: int,
    label: str = "",
    intervals: bool | None,
    levels: bool,
) -> Plan:
    """Plan the calls for the scores of one representation.

    Args:
        metrics: Metrics by name.
        table: Codes and factors.
        traversals: A separate table for metrics along traversals.
        seed: Seed of the evaluation. Replicates of tables with the same factors use the
            same rows and seeds, so that they can be compared in pairs.
        label: Name of the representation.
        intervals: Whether to replicate; ``None`` for metrics whose replicates take up
            to 10 seconds.
        levels: Whether to measure chance and ideal levels.
    """
    tasks: list[Task] = []
    for own in (table, traversals):
        group = {
            name: metric
            for name, metric in metrics.items()
            if _choose_table(metric, table, traversals) is own
        }
        if own is None or not group:
            continue
        values = [
            Task(label, name, metric, "value", 0, own, seed)
            for name, metric in group.items()
        ]
        tasks += values
        if levels:
            tasks += _levels(group, own, seed, label)
        if intervals is not False and len(own.codes) >= FEWEST_ROWS:
            tasks += _wanted_replicates(group, own, seed, label, intervals)
    return Plan(metrics, table, traversals, tasks, seed, intervals, label)


def _choose_table(metric: Metric, table: Table, traversals: Table | None) -> Table:
    return traversals if traversals and metric.rows == "traversals" else table


def _wanted_replicates(
    metrics: Mapping[str, Metric],
    table: Table,
    seed: int,
    label: str,
    intervals: bool | None,
) -> list[Task]:
    tasks = _replicates(metrics, table, seed, label)
    if intervals:
        return tasks
    costs = dict.fromkeys(metrics, 0.0)
    for task in tasks:
        costs[task.name] += task.seconds
    return [task for task in tasks if costs[task.name] <= QUICK_SECONDS]


def varies_by_seed(metric: Metric, n_rows: int) -> bool:
    """Return whether replicates vary as new samples do, without scaling.

    This holds for other seeds if a metric draws few of many rows, and for random halves
    of the traversals.
    """
    if metric.rows == "some":
        return n_rows >= 2 * _DRAWN_ROWS
    return metric.rows == "traversals"


def replicate_rows(n_rows: int) -> int:
    """Return the number of rows of a replicate of a table with this many rows."""
    return min(n_rows // 2, _REPLICATE_ROWS)


def _levels(
    metrics: Mapping[str, Metric], table: Table, seed: int, label: str
) -> list[Task]:
    """Return tasks on shuffled rows and on factors as codes, with one copy of each."""
    supervised = [name for name, metric in metrics.items() if metric.uses_factors]
    if not supervised or table.factors is None:
        return []
    order = numpy_generator(seed, "chance").permutation(len(table.codes))
    logs = None if table.log_variances is None else table.log_variances[order]
    chance = replace(table, codes=_read_only(table.codes[order]), log_variances=logs)
    # Factors as codes have no posterior, so that metrics of posteriors have no ideal.
    perfect = _read_only(_ideal_codes(table.factors))
    ideal = replace(table, codes=perfect, log_variances=None)
    return [
        Task(label, name, metrics[name], role, 0, level, seed)
        for name in supervised
        for role, level in (("chance", chance), ("ideal", ideal))
    ]


def _replicates(
    metrics: Mapping[str, Metric], table: Table, seed: int, label: str
) -> list[Task]:
    tasks = []
    n_rows = len(table.codes)
    for number in range(REPLICATES):
        generator = numpy_generator(seed, "replicate", number)
        half = generator.permutation(n_rows)[: replicate_rows(n_rows)]
        part = None
        if any(metric.rows == "traversals" for metric in metrics.values()):
            part = _half_along_factors(table, generator)
        for name, metric in metrics.items():
            rows = half
            if varies_by_seed(metric, n_rows):
                rows = part if metric.rows == "traversals" else None
            fresh = seed + number + 1
            tasks.append(
                Task(label, name, metric, "replicate", number, table, fresh, rows)
            )
    return tasks


def _half_along_factors(
    table: Table, generator: np.random.Generator
) -> NDArray[np.int64] | None:
    if table.factors is None or table.is_grid:
        return None
    return half_of_traversals(table.factors, generator)


def _ideal_codes(factors: Factors) -> NDArray[np.float64]:
    codes = factors.values.copy()
    mean = np.nanmean(codes, axis=0)
    codes = np.where(np.isnan(codes), mean, codes) - mean
    codes /= codes.std(axis=0)
    if codes.shape[1] == 1:  # metrics that compare latents need a second one
        codes = np.column_stack([codes, np.zeros(len(codes))])
    return codes


def _read_only(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    codes.flags.writeable = False
    return codes
