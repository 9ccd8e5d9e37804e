"""All scores of a representation in one call, with what is needed to believe them."""

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from tqdm import tqdm

from unbraid.data import AbstractDataset, open_dataset
from unbraid.foundation import numpy_generator
from unbraid.representation import Representation

from ._catalogue import METRICS, Metric, choose_metrics
from ._encoded import encode_some, encode_traversals
from ._grid import is_complete_grid
from ._inputs import Factors, read_codes, read_inputs
from ._score import Score
from ._scorecard import Scorecard
from ._sizes import check_size
from .supervised._traversals import half_of_traversals

_REPLICATES = 8
_CONFIDENCE = 0.95
# Rows of a replicate at the most; the spread is scaled to the rows of the table.
_REPLICATE_ROWS = 20_000
# Rows that metrics draw which do not look at all of them.
_DRAWN_ROWS = 15_000
# Seconds of work from which it pays to start other processes.
_WORTH_PROCESSES = 8.0
# Fewer rows than this say nothing about their spread.
_LEAST_ROWS = 50


def evaluate(
    codes: ArrayLike | Representation | Callable[..., Any] | Any,
    factors: ArrayLike | Factors | AbstractDataset | str | None = None,
    *,
    metrics: str | Sequence[str] = "standard",
    rows: int = 50_000,
    traversals: Representation | None = None,
    seed: int = 0,
    intervals: bool = True,
    levels: bool = True,
    workers: int | None = None,
    progress: bool = True,
) -> Scorecard:
    r"""Every score of a representation, with intervals, chance and ideal levels.

    Next to each score stand three things that tell what it is worth. The interval is
    where a fresh evaluation is expected to fall, on as many other rows and with
    another seed, 19 times in 20. It comes from the spread :math:`s` of the score over
    random halves of the table, which vary as much around the whole as samples of its
    size do around the truth, as :math:`x \pm t_{0.975} \sqrt{2} s`; metrics that draw
    rows by themselves from a table with plenty are repeated with other seeds instead,
    metrics along traversals on random halves of the traversals, and shares of test
    cases vary at least as counting them does. An interval ends where the range of its
    score ends.
    Chance is the score when the rows of the factors are shuffled. Ideal is the score
    of the factors themselves taken as codes.

    Args:
        codes: Codes ``(n_rows, n_latents)``; or a :class:`Representation`; or, when
            ``factors`` is a dataset, anything :func:`unbraid.encode` takes.
        factors: Factors ``(n_rows, n_factors)``, or :class:`Factors` with names and
            kinds; a dataset (or its name) to encode and to take the factors from; or
            nothing, for the scores that need no ground truth.
        metrics: ``"standard"``, ``"all"``, or names.
        rows: Largest number of images of a dataset to encode, drawn at random; arrays
            and representations are scored whole. Metrics along traversals (linearity,
            axis alignment and orientation, distance correlation) look at other images:
            up to 256 complete traversals of each factor, at most 50,000 images. If
            all images are encoded, these metrics use all traversals.
        traversals: Codes and factors of complete traversals, for those metrics. Without
            them, and without a dataset, they use the complete traversals in ``codes``.
        seed: Seed of everything random.
        intervals: Estimate intervals (about five times the work).
        levels: Measure chance and ideal levels (about twice the work).
        workers: Processes that work at once, as many as there are cores when not given.
        progress: Show a progress bar, with an estimate of the time, if the standard
            error is a terminal.

    Returns:
        A :class:`Scorecard`. A metric that cannot be computed on these data is listed
        in ``failures`` with its reason and takes no other one down.

    Example:
        >>> factors = np.random.default_rng(0).integers(0, 4, (500, 2))
        >>> codes = np.column_stack([factors, np.zeros(500)]).astype(float)
        >>> card = evaluate(codes, factors, metrics="mig", progress=False)
        >>> card["mig"].chance < 0.1 < 0.9 < card["mig"]
        True
    """
    if isinstance(factors, AbstractDataset | str):
        check_size("evaluate", "rows", rows)
        dataset = open_dataset(factors) if isinstance(factors, str) else factors
        names = choose_metrics(metrics, have_factors=bool(dataset.factor_names))
        codes, along = _encode(codes, dataset, names, rows, seed, progress)
        traversals, factors = traversals or along, None
    table = _read(codes, factors)
    names = choose_metrics(metrics, have_factors=table.factors is not None)
    if traversals is codes:
        traversals = None  # the whole dataset is one table, and has all traversals
    along_factors = _read(traversals, None) if traversals is not None else table
    plan = _plan(names, table, along_factors, seed, intervals=intervals, levels=levels)
    workers = workers or os.cpu_count() or 1
    outcomes = _run(plan, workers, estimate_seconds(plan, workers), progress)
    scores, failures = [], {}
    for name in names:
        outcome = outcomes[name, "value", 0]
        if isinstance(outcome, str):
            failures[name] = outcome
        else:
            own = along_factors if METRICS[name].rows == "traversals" else table
            scores += _assembled(name, outcomes, own)
    labels = table.factors
    return Scorecard(
        scores=tuple(scores),
        failures=failures,
        n_rows=len(table.codes),
        n_traversal_rows=0 if traversals is None else len(along_factors.codes),
        n_latents=table.codes.shape[1],
        factor_names=labels.names if labels else (),
        seed=seed,
    )


@dataclass(frozen=True, eq=False)
class Table:
    """Codes and factors of the same rows, shared by all tasks that look at them."""

    codes: NDArray[np.float64]
    factors: Factors | None

    @cached_property
    def is_grid(self) -> bool:
        """Whether every combination of factor values has exactly one row."""
        return self.factors is not None and is_complete_grid(self.factors)

    def at(self, rows: NDArray[np.int64]) -> "Table":
        """A copy of some rows."""
        part = None if self.factors is None else self.factors.at(rows)
        return Table(self.codes[rows], part)


@dataclass(frozen=True, eq=False)
class Task:
    """One call of a metric: on the data, on shuffled or ideal data, or on a part.

    A task refers to a table and copies nothing before it runs.
    """

    name: str
    role: str
    number: int
    table: Table
    seed: int
    rows: NDArray[np.int64] | None = None

    @property
    def metric(self) -> Metric:
        """The metric to call."""
        return METRICS[self.name]

    @property
    def n_numbers(self) -> int:
        """Numbers in the codes that the metric is given."""
        n_rows = len(self.table.codes) if self.rows is None else len(self.rows)
        return n_rows * self.table.codes.shape[1]


_Outcome = tuple[Score, ...] | str


def estimate_seconds(tasks: Sequence[Task], workers: int) -> float:
    """About how long tasks will take, from the costs in the catalogue."""
    total = 0.0
    for task in tasks:
        size = task.n_numbers / (_DRAWN_ROWS * 10)
        share = size if task.metric.rows == "all" else min(size, 1.0)
        total += task.metric.seconds * share
    return total / workers


def _encode(
    model: Any,
    dataset: AbstractDataset,
    names: Sequence[str],
    n_rows: int,
    seed: int,
    progress: bool,
) -> tuple[Representation, Representation | None]:
    """Codes of random rows and of traversals; the latter alone if all metrics can."""
    along = [METRICS[name].rows == "traversals" for name in names]
    codes = traversals = None
    if not all(along) or len(dataset) <= n_rows:
        codes = encode_some(model, dataset, n_rows, seed, progress=progress)
    if any(along):
        traversals = encode_traversals(
            model, dataset, seed, known=codes, progress=progress
        )
    if codes is None and traversals is not None:
        return traversals, None
    if codes is None:
        codes = encode_some(model, dataset, n_rows, seed, progress=progress)
    return codes, traversals


def _read(codes: Any, factors: Any) -> Table:
    if isinstance(codes, Representation):
        if factors is None and codes.factors is not None:
            factors = Factors(
                codes.factors, names=codes.factor_names, kinds=codes.factor_kinds
            )
        codes = codes.codes
    if factors is None:
        return Table(read_codes("evaluate", codes), None)
    return Table(*read_inputs("evaluate", codes, factors))


def _plan(
    names: Sequence[str],
    table: Table,
    traversals: Table,
    seed: int,
    *,
    intervals: bool,
    levels: bool,
) -> list[Task]:
    groups = [(list(names), table)]
    if traversals is not table:
        along = [name for name in names if METRICS[name].rows == "traversals"]
        others = [name for name in names if name not in along]
        groups = [(others, table), (along, traversals)]
    tasks = []
    for group, own in groups:
        if not group:
            continue
        tasks += [Task(name, "value", 0, own, seed) for name in group]
        if levels and own.factors is not None:
            tasks += _levels(group, own, seed)
        if intervals and len(own.codes) >= _LEAST_ROWS:
            tasks += _replicates(group, own, seed)
    return tasks


def _levels(names: Sequence[str], table: Table, seed: int) -> list[Task]:
    """Tasks on shuffled rows and on the factors as codes, one copy of each for all."""
    supervised = [name for name in names if METRICS[name].uses_factors]
    if not supervised or table.factors is None:
        return []
    order = numpy_generator(seed, "chance").permutation(len(table.codes))
    chance = replace(table, codes=_read_only(table.codes[order]))
    ideal = replace(table, codes=_read_only(_ideal_codes(table.factors)))
    return [
        Task(name, role, 0, level, seed)
        for name in supervised
        for role, level in (("chance", chance), ("ideal", ideal))
    ]


def _replicates(names: Sequence[str], table: Table, seed: int) -> list[Task]:
    tasks = []
    n_rows = len(table.codes)
    for number in range(_REPLICATES):
        generator = numpy_generator(seed, "replicate", number)
        half = generator.permutation(n_rows)[: _replicate_rows(n_rows)]
        part = None
        if any(METRICS[name].rows == "traversals" for name in names):
            part = _half_along_factors(table, generator)
        for name in names:
            metric = METRICS[name]
            rows = half
            if _varies_by_seed(metric, n_rows):
                rows = part if metric.rows == "traversals" else None
            fresh = seed + number + 1
            tasks.append(Task(name, "replicate", number, table, fresh, rows))
    return tasks


def _half_along_factors(
    table: Table, generator: np.random.Generator
) -> NDArray[np.int64] | None:
    if table.factors is None or table.is_grid:
        return None
    return half_of_traversals(table.factors, generator)


def _replicate_rows(n_rows: int) -> int:
    return min(n_rows // 2, _REPLICATE_ROWS)


def _varies_by_seed(metric: Metric, n_rows: int) -> bool:
    """Whether replicates vary as fresh samples would, without any scaling.

    Other seeds on the same table do if there is plenty to draw from, and so do random
    halves of the traversals.
    """
    if metric.rows == "some":
        return n_rows >= 2 * _DRAWN_ROWS
    return metric.rows == "traversals"


def _ideal_codes(factors: Factors) -> NDArray[np.float64]:
    codes = factors.values.copy()
    mean = np.nanmean(codes, axis=0)
    codes = np.where(np.isnan(codes), mean, codes) - mean
    codes /= codes.std(axis=0)
    if codes.shape[1] == 1:  # metrics that compare latents want a second one
        codes = np.column_stack([codes, np.zeros(len(codes))])
    return codes


def _read_only(codes: NDArray[np.float64]) -> NDArray[np.float64]:
    codes.flags.writeable = False
    return codes


def _run(
    tasks: Sequence[Task], workers: int, seconds: float, progress: bool
) -> dict[tuple[str, str, int], _Outcome]:
    hide = None if progress else True  # None: unless on a terminal
    # The longest first, so that the last one to end is short.
    order = sorted(tasks, key=lambda task: -task.metric.seconds)
    results: Iterable[Any] = map(_call, order)
    if workers > 1 and seconds > _WORTH_PROCESSES:
        # Processes and not threads: much of the work holds Python's lock, and warnings
        # that are caught on purpose are caught for all threads.
        parallel = Parallel(n_jobs=workers, return_as="generator")
        results = parallel(delayed(_call)(task) for task in order)
    label = f"scoring, about {seconds:.0f} s"
    bar = tqdm(results, total=len(order), desc=label, disable=hide)
    return {
        (task.name, task.role, task.number): outcome
        for task, outcome in zip(order, bar, strict=True)
    }


def _call(task: Task) -> _Outcome:
    start = time.perf_counter()
    try:
        table = task.table if task.rows is None else task.table.at(task.rows)
        scores = task.metric.scores(table.codes, table.factors, task.seed)
    except ValueError as error:
        return str(error)
    seconds = time.perf_counter() - start
    return tuple(score.replace(seconds=seconds) for score in scores)


def _assembled(
    name: str,
    outcomes: dict[tuple[str, str, int], _Outcome],
    table: Table,
) -> list[Score]:
    """The scores of a metric with their interval and levels."""
    values = outcomes[name, "value", 0]
    assert not isinstance(values, str)
    finished = []
    for position, score in enumerate(values):

        def at(role: str, number: int = 0, place: int = position) -> float | None:
            outcome = outcomes.get((name, role, number))
            if outcome is None or isinstance(outcome, str):
                return None
            return float(outcome[place])

        replicates = [at("replicate", number) for number in range(_REPLICATES)]
        known = [value for value in replicates if value is not None]
        finished.append(
            score.replace(
                factors_used=_factors_used(score, METRICS[name], table),
                interval=_interval(score, known, METRICS[name], table),
                chance=at("chance"),
                ideal=at("ideal"),
            )
        )
    return finished


def _factors_used(score: Score, metric: Metric, table: Table) -> tuple[int, int] | None:
    """What the metric says, or else how many factors have a part in the score."""
    if score.factors_used or not metric.uses_factors or table.factors is None:
        return score.factors_used
    n_factors = table.factors.n_factors
    return len(score.per_factor) or n_factors, n_factors


def _interval(
    score: Score, replicates: Sequence[float], metric: Metric, table: Table
) -> tuple[float, float] | None:
    value, n_rows = float(score), len(table.codes)
    if len(replicates) < _REPLICATES or not np.isfinite([value, *replicates]).all():
        return None
    spread = float(np.std(replicates, ddof=1))
    if spread == 0 and metric.rows == "traversals" and not table.is_grid:
        return None  # all replicates used the same traversals
    if not _varies_by_seed(metric, n_rows):
        rows = _replicate_rows(n_rows)
        # Parts without replacement vary by 1/m - 1/n, a fresh sample of all by 1/n.
        spread *= math.sqrt(rows / (n_rows - rows))
    if "n_test" in score.details:
        spread = max(spread, _counting_spread(value, score.details["n_test"]))
    quantile = float(student.ppf((1 + _CONFIDENCE) / 2, _REPLICATES - 1))
    width = quantile * math.sqrt(2) * spread
    # A score outside of its bounds would be an error of the metric: do not hide it.
    low, high = metric.range(table.codes.shape[1])
    return max(min(low, value), value - width), min(max(high, value), value + width)


def _counting_spread(share: float, n_cases: float) -> float:
    """How much a share of so many cases varies at the least, also if all were right.

    References:
        Agresti and Coull (1998), Approximate Is Better than "Exact" for Interval
        Estimation of Binomial Proportions: two cases more of either kind.
    """
    cautious = (share * n_cases + 2.0) / (n_cases + 4.0)
    return math.sqrt(cautious * (1.0 - cautious) / n_cases)
