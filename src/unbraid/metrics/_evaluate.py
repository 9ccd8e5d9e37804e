"""All scores of a representation in one call, with what is needed to believe them."""

import math
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student
from tqdm import tqdm

from unbraid.data import AbstractDataset, open_dataset
from unbraid.randomness import numpy_generator
from unbraid.representation import Representation, encode

from ._catalogue import METRICS, Metric, choose_metrics
from ._inputs import Factors, read_codes, read_inputs
from ._score import Score
from ._scorecard import Scorecard
from ._sizes import check_size

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
    and shares of test cases vary at least as counting them does.
    Chance is the score when the rows of the factors are shuffled. Ideal is the score
    of the factors themselves taken as codes.

    Args:
        codes: Codes ``(n_rows, n_latents)``; or a :class:`Representation`; or, when
            ``factors`` is a dataset, anything :func:`unbraid.encode` takes.
        factors: Factors ``(n_rows, n_factors)``, or :class:`Factors` with names and
            kinds; a dataset (or its name) to encode and to take the factors from; or
            nothing, for the scores that need no ground truth.
        metrics: ``"standard"``, ``"all"``, or names.
        rows: Images of a dataset to encode at the most, drawn at random; arrays and
            representations are scored whole.
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
    table, labels = _read(codes, factors, rows, seed)
    names = choose_metrics(metrics, have_factors=labels is not None)
    tasks = _plan(names, table, labels, seed, intervals=intervals, levels=levels)
    workers = workers or os.cpu_count() or 1
    outcomes = _run(tasks, workers, estimate_seconds(tasks, workers), progress)
    scores, failures = [], {}
    for name in names:
        outcome = outcomes[name, "value", 0]
        if isinstance(outcome, str):
            failures[name] = outcome
        else:
            scores += _assembled(name, outcomes, table, intervals, levels)
    return Scorecard(
        scores=tuple(scores),
        failures=failures,
        n_rows=len(table),
        n_latents=table.shape[1],
        factor_names=labels.names if labels else (),
        seed=seed,
    )


@dataclass(frozen=True)
class Task:
    """One call of a metric: on the data, on shuffled or ideal data, or on a part."""

    name: str
    role: str
    number: int
    codes: NDArray[np.float64]
    factors: Factors | None
    seed: int

    @property
    def metric(self) -> Metric:
        """The metric to call."""
        return METRICS[self.name]


_Outcome = tuple[Score, ...] | str


def estimate_seconds(tasks: Sequence[Task], workers: int) -> float:
    """About how long tasks will take, from the costs in the catalogue."""
    total = 0.0
    for task in tasks:
        size = task.codes.size / (_DRAWN_ROWS * 10)
        share = size if task.metric.rows == "all" else min(size, 1.0)
        total += task.metric.seconds * share
    return total / workers


def _read(
    codes: Any, factors: Any, n_rows: int, seed: int
) -> tuple[NDArray[np.float64], Factors | None]:
    if isinstance(factors, AbstractDataset | str):
        check_size("evaluate", "rows", n_rows)
        dataset = open_dataset(factors) if isinstance(factors, str) else factors
        codes, factors = encode_some(codes, dataset, n_rows, seed), None
    if isinstance(codes, Representation):
        if factors is None and codes.factors is not None:
            factors = Factors(
                codes.factors, names=codes.factor_names, kinds=codes.factor_kinds
            )
        codes = codes.codes
    if factors is None:
        return read_codes("evaluate", codes), None
    return read_inputs("evaluate", codes, factors)


def encode_some(
    model: Any, dataset: AbstractDataset, n_rows: int, seed: int
) -> Representation:
    """Codes of all images of a dataset, or of so many random ones if it has more.

    Codes that are ready, one for each image, are taken as they are.
    """
    if len(dataset) <= n_rows or isinstance(model, np.ndarray):
        return encode(model, dataset)
    generator = numpy_generator(seed, "evaluated rows")
    some = generator.choice(len(dataset), n_rows, replace=False)
    return encode(model, dataset, rows=np.sort(some))


def _plan(
    names: Sequence[str],
    codes: NDArray[np.float64],
    factors: Factors | None,
    seed: int,
    *,
    intervals: bool,
    levels: bool,
) -> list[Task]:
    tasks = [Task(name, "value", 0, codes, factors, seed) for name in names]
    if levels and factors is not None:
        order = numpy_generator(seed, "chance").permutation(len(codes))
        ideal = _ideal_codes(factors)
        for name in names:
            if METRICS[name].uses_factors:
                tasks.append(Task(name, "chance", 0, codes[order], factors, seed))
                tasks.append(Task(name, "ideal", 0, ideal, factors, seed))
    if intervals and len(codes) >= _LEAST_ROWS:
        for number in range(_REPLICATES):
            generator = numpy_generator(seed, "replicate", number)
            rows = generator.permutation(len(codes))[: _replicate_rows(len(codes))]
            part = factors.at(rows) if factors is not None else None
            fresh = seed + number + 1
            for name in names:
                if _varies_by_seed(METRICS[name], len(codes)):
                    task = Task(name, "replicate", number, codes, factors, fresh)
                else:
                    task = Task(name, "replicate", number, codes[rows], part, fresh)
                tasks.append(task)
    return tasks


def _replicate_rows(n_rows: int) -> int:
    return min(n_rows // 2, _REPLICATE_ROWS)


def _varies_by_seed(metric: Metric, n_rows: int) -> bool:
    """Whether other seeds on the same table vary as fresh samples would."""
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
        scores = task.metric.scores(task.codes, task.factors, task.seed)
    except ValueError as error:
        return str(error)
    seconds = time.perf_counter() - start
    return tuple(score.replace(seconds=seconds) for score in scores)


def _assembled(
    name: str,
    outcomes: dict[tuple[str, str, int], _Outcome],
    codes: NDArray[np.float64],
    intervals: bool,
    levels: bool,
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
                interval=_interval(score, known, METRICS[name], len(codes)),
                chance=at("chance"),
                ideal=at("ideal"),
            )
        )
    return finished


def _interval(
    score: Score, replicates: Sequence[float], metric: Metric, n_rows: int
) -> tuple[float, float] | None:
    value = float(score)
    if len(replicates) < _REPLICATES or not np.isfinite([value, *replicates]).all():
        return None
    spread = float(np.std(replicates, ddof=1))
    if not _varies_by_seed(metric, n_rows):
        rows = _replicate_rows(n_rows)
        # Parts without replacement vary by 1/m - 1/n, a fresh sample of all by 1/n.
        spread *= math.sqrt(rows / (n_rows - rows))
    if "n_test" in score.details:
        spread = max(spread, _counting_spread(value, score.details["n_test"]))
    quantile = float(student.ppf((1 + _CONFIDENCE) / 2, _REPLICATES - 1))
    width = quantile * math.sqrt(2) * spread
    return value - width, value + width


def _counting_spread(share: float, n_cases: float) -> float:
    """How much a share of so many cases varies at the least, also if all were right.

    References:
        Agresti and Coull (1998), Approximate Is Better than "Exact" for Interval
        Estimation of Binomial Proportions: two cases more of either kind.
    """
    cautious = (share * n_cases + 2.0) / (n_cases + 4.0)
    return math.sqrt(cautious * (1.0 - cautious) / n_cases)
