"""Making scorecards from the results of all tasks."""

from collections.abc import Mapping

from unbraid.foundation import format_duration

from ._intervals import score_interval
from ._metric import Metric
from ._run import Key, Outcome
from ._score import Score
from ._scorecard import Scorecard
from ._tasks import FEWEST_ROWS, REPLICATES, Plan, Table, total_seconds


def make_card(
    plan: Plan, outcomes: Mapping[Key, Outcome], budget: float | None = None
) -> Scorecard:
    """Return the scorecard of one representation.

    Args:
        plan: Planned tasks.
        outcomes: Results of the tasks that were run.
        budget: Time limit in seconds, if there was one.
    """
    scores: list[Score] = []
    failures, skipped, groups, without_interval = {}, {}, {}, {}
    for name in plan.metrics:
        outcome = outcomes.get((plan.label, name, "value", 0))
        if outcome is None:
            skipped[name] = _over_budget(plan, name, budget)
        elif isinstance(outcome, str):
            failures[name] = outcome
        else:
            made = _assemble(outcome, plan, name, outcomes)
            scores += made
            if [score.name for score in made] != [name]:
                groups[name] = tuple(score.name for score in made)
            if any(score.interval is None for score in made):
                without_interval[name] = _why_no_interval(plan, name, outcomes)
    factors = plan.table.factors
    apart = plan.traversals
    return Scorecard(
        scores=tuple(scores),
        failures=failures,
        skipped=skipped,
        without_interval=without_interval,
        groups=groups,
        n_rows=len(plan.table.codes),
        n_traversal_rows=0 if apart is None else len(apart.codes),
        n_latents=plan.table.codes.shape[1],
        factor_names=factors.names if factors else (),
        factor_kinds=factors.kinds if factors else (),
        seed=plan.seed,
    )


def _assemble(
    values: tuple[Score, ...], plan: Plan, name: str, outcomes: Mapping[Key, Outcome]
) -> list[Score]:
    """Return the scores of a metric with their intervals and levels."""
    label, metric, table = plan.label, plan.metrics[name], plan.table_of(name)
    finished = []
    for position, score in enumerate(values):
        replicates = replicate_values(outcomes, label, name, position)
        finished.append(
            score.replace(
                factors_used=_factors_used(score, metric, table),
                interval=score_interval(score, replicates, metric, table),
                chance=_value_at(outcomes, (label, name, "chance", 0), position),
                ideal=_value_at(outcomes, (label, name, "ideal", 0), position),
            )
        )
    return finished


def replicate_values(
    outcomes: Mapping[Key, Outcome], label: str, name: str, position: int
) -> list[float]:
    """Return the replicates of a score; none if one of them is missing."""
    values = [
        _value_at(outcomes, (label, name, "replicate", number), position)
        for number in range(REPLICATES)
    ]
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []


def _value_at(outcomes: Mapping[Key, Outcome], key: Key, position: int) -> float | None:
    outcome = outcomes.get(key)
    if outcome is None or isinstance(outcome, str):
        return None
    return float(outcome[position])


def _factors_used(score: Score, metric: Metric, table: Table) -> tuple[int, int] | None:
    """Return the metric's own count, or the number of factors in the score."""
    if score.factors_used or not metric.uses_factors or table.factors is None:
        return score.factors_used
    n_factors = table.factors.n_factors
    return len(score.per_factor) or n_factors, n_factors


def _over_budget(plan: Plan, name: str, budget: float | None) -> str:
    need = format_duration(total_seconds(plan.tasks_of(name, "value")))
    limit = format_duration(budget or 0.0)
    return f"Takes about {need}, which does not fit into the budget of {limit}."


def _why_no_interval(plan: Plan, name: str, outcomes: Mapping[Key, Outcome]) -> str:
    replicates = plan.tasks_of(name, "replicate")
    if plan.intervals is False:
        return "not requested"
    if len(plan.table_of(name).codes) < FEWEST_ROWS:
        return f"fewer than {FEWEST_ROWS} rows"
    if not replicates:
        return "takes longer, use intervals=True or --intervals"
    if any(task.key not in outcomes for task in replicates):
        return "did not fit into the budget"
    return "cannot be estimated from these rows"
