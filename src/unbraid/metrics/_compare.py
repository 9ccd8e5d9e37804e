"""compare: scores of several representations of the same rows."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from unbraid.data import Kind
from unbraid.foundation import parse_duration
from unbraid.representation import Representation

from ._cards import make_card, replicate_values
from ._comparison import Comparison, Difference
from ._evaluate import read_table
from ._inputs import Factors
from ._intervals import difference_interval
from ._own_metrics import Wanted, resolve_metrics
from ._run import Key, Outcome, run_tasks
from ._score import Score
from ._tasks import Plan, Table, make_plan

if TYPE_CHECKING:
    import pandas as pd


def compare(
    representations: Mapping[str, ArrayLike | Representation],
    factors: "ArrayLike | pd.DataFrame | Factors | None" = None,
    *,
    metrics: Wanted = "standard",
    kinds: Mapping[str, Kind] | None = None,
    seed: int = 0,
    intervals: bool | None = True,
    levels: bool = False,
    budget: str | float | None = None,
    n_jobs: int | None = -1,
    progress: bool | None = None,
) -> Comparison:
    r"""Compare the scores of several representations of the same rows.

    All representations are scored on the same random halves of the rows, with the same
    seeds. The difference of two scores varies over these halves with a standard
    deviation :math:`s`, which is also that of the difference over fresh tables of the
    size of the whole, and the interval is :math:`d \pm t_{0.975} s`. What makes a
    sample easy or hard for both cancels, so that a difference can be clear although the
    intervals of the two scores overlap. Halves are drawn without replacement: with
    replacement, copies of a row would be both learned from and tested on.

    Args:
        representations: Codes ``(n_rows, n_latents)`` by name. The number of latents
            may differ. The first one is the baseline.
        factors: Factors of these rows, as for :func:`unbraid.evaluate`.
        metrics: Metrics, as for :func:`unbraid.evaluate`.
        kinds: Kinds of some factors by name.
        seed: Seed of everything random.
        intervals: Estimate intervals of the differences: of all, of none, or
            (``None``) where it takes at most 10 seconds per metric and representation.
        levels: Measure chance and ideal levels of each representation.
        budget: Time limit; see :func:`unbraid.evaluate`.
        n_jobs: Number of processes: -1 for one per core, ``None`` for 1, as in
            scikit-learn. Work of a few seconds is done in one process.
        progress: Print each score when it is done; see :func:`unbraid.evaluate`.

    Returns:
        A :class:`Comparison`, which prints as a table and can be plotted.

    Example:
        >>> import numpy as np
        >>> generator = np.random.default_rng(0)
        >>> factors = generator.integers(0, 4, (500, 2))
        >>> good = factors + 0.3 * generator.normal(size=(500, 2))
        >>> mixed = good @ np.array([[1.0, 1.0], [1.0, -1.0]])
        >>> result = compare({"mixed": mixed, "good": good}, factors, metrics="mig")
        >>> result.difference("mig").better
        'good'
    """
    limit = None if budget is None else parse_duration(budget)
    tables = _read_tables(representations, factors, kinds)
    have_factors = all(table.factors is not None for table in tables.values())
    chosen = resolve_metrics(metrics, have_factors=have_factors)
    plans = [
        make_plan(
            chosen, table, seed=seed, label=name, intervals=intervals, levels=levels
        )
        for name, table in tables.items()
    ]
    outcomes = run_tasks(
        [task for plan in plans for task in plan.tasks],
        n_jobs=n_jobs,
        budget=limit,
        progress=progress,
    )
    return Comparison(
        cards={plan.label: make_card(plan, outcomes, limit) for plan in plans},
        differences=tuple(
            difference
            for plan in plans[1:]
            for difference in _differences(plans[0], plan, outcomes)
        ),
    )


def _read_tables(
    representations: Mapping[str, Any],
    factors: Any,
    kinds: Mapping[str, Kind] | None,
) -> dict[str, Table]:
    if not isinstance(representations, Mapping) or len(representations) < 2:
        raise ValueError(
            "compare needs at least two representations by name, such as "
            "compare({'A': codes_a, 'B': codes_b}, factors)."
        )
    if factors is not None and not isinstance(factors, Factors):
        factors = Factors(factors)
    tables: dict[str, Table] = {}
    for name, codes in representations.items():
        tables[str(name)] = read_table(f"compare: {name}", codes, factors, kinds)
    sizes = {name: len(table.codes) for name, table in tables.items()}
    if len(set(sizes.values())) > 1:
        text = ", ".join(f"{name} has {n:,}" for name, n in sizes.items())
        raise ValueError(
            f"compare: representations must have the same rows, but {text}."
        )
    return tables


def _differences(
    baseline: Plan, plan: Plan, outcomes: Mapping[Key, Outcome]
) -> list[Difference]:
    found = []
    for name, metric in plan.metrics.items():
        both = [
            outcomes.get((each.label, name, "value", 0)) for each in (baseline, plan)
        ]
        pairs = _pair_scores(both)
        for position, (first, second) in enumerate(pairs):
            replicates = zip(
                replicate_values(outcomes, baseline.label, name, position),
                replicate_values(outcomes, plan.label, name, position),
                strict=False,
            )
            found.append(
                Difference(
                    score=second.name,
                    name=plan.label,
                    baseline=baseline.label,
                    value=float(second) - float(first),
                    interval=difference_interval(
                        (first, second), list(replicates), metric, plan.table
                    ),
                    higher_is_better=metric.higher_is_better,
                )
            )
    return found


def _pair_scores(both: Sequence[Outcome | None]) -> list[tuple[Score, Score]]:
    first, second = both
    if not isinstance(first, tuple) or not isinstance(second, tuple):
        return []
    return list(zip(first, second, strict=True))
