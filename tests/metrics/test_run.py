"""Budgets, estimates, progress and what has no interval."""

import numpy as np
import pytest

from unbraid.metrics import METRICS, Factors, Metric, evaluate
from unbraid.metrics._run import run_tasks
from unbraid.metrics._tasks import Table, make_plan, total_seconds

GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.integers(0, 4, (300, 2))
CODES = FACTORS + 0.2 * GENERATOR.normal(size=(300, 2))


def plan(n_rows, n_latents, n_classes, **options):
    values = np.arange(n_rows)[:, None] % n_classes
    table = Table(np.zeros((n_rows, n_latents)), Factors(values, kinds=("ordinal",)))
    standard = {name: m for name, m in METRICS.items() if m.is_standard}
    return make_plan(standard, table, seed=0, levels=True, **options)


def endless(codes, factors):
    raise AssertionError("this was not to be started")


def test_what_does_not_fit_into_the_budget_is_listed_as_skipped():
    slow = Metric(endless, 1e9)
    card = evaluate(CODES, FACTORS, metrics=[slow, "mig"], budget="5m", workers=1)
    assert list(card) == ["mig"]
    assert "did not fit into the budget of 5 min" in card.skipped["endless"]
    assert "endless: skipped." in str(card)
    assert "endless" in card.to_frame()["score"].tolist()
    assert "endless" in card.to_json()
    with pytest.raises(KeyError, match="did not fit"):
        card["endless"]


def test_a_budget_changes_no_score():
    free = evaluate(CODES, FACTORS, metrics="mig,sap,dci", workers=1)
    tight = evaluate(CODES, FACTORS, metrics="mig,sap,dci", budget="10m", workers=1)
    columns = ["value", "low", "high", "chance", "ideal"]
    np.testing.assert_array_equal(free.to_frame()[columns], tight.to_frame()[columns])


def test_scores_come_before_levels_and_intervals():
    calls = []

    def first(codes, factors):
        calls.append(("first", len(codes)))
        return 0.0

    def second(codes):
        calls.append(("second", len(codes)))
        return 0.0

    metrics = [Metric(second, 2.0, uses_factors=False), Metric(first, 1.0)]
    evaluate(CODES, FACTORS, metrics=metrics, workers=1)
    # Two values, chance and ideal of one of them, then eight halves of each.
    assert calls[:2] == [("first", 300), ("second", 300)]
    assert calls[2:4] == [("first", 300)] * 2
    assert calls[4:] == [("first", 150)] * 8 + [("second", 150)] * 8


@pytest.mark.parametrize("budget", ["soon", -1, 0])
def test_a_budget_is_a_duration(budget):
    with pytest.raises(ValueError, match="duration|time above 0"):
        evaluate(CODES, FACTORS, metrics="mig", budget=budget)


def test_by_default_slow_intervals_are_left_out_and_the_card_says_so():
    small, large = (
        plan(600, 10, 10, intervals=None),
        plan(5_000, 64, 30, intervals=None),
    )
    assert small.tasks_of("dci", "replicate")
    assert not large.tasks_of("dci", "replicate")
    assert large.tasks_of("mig", "replicate")
    assert plan(5_000, 64, 30, intervals=True).tasks_of("dci", "replicate")
    assert not plan(600, 10, 10, intervals=False).tasks_of("mig", "replicate")


@pytest.mark.parametrize(
    ("intervals", "n_rows", "reason"),
    [(False, 300, "not requested"), (None, 40, "fewer than 50 rows")],
)
def test_a_result_without_interval_says_why(intervals, n_rows, reason):
    card = evaluate(
        CODES[:n_rows], FACTORS[:n_rows], metrics="mig", intervals=intervals
    )
    assert card["mig"].interval is None
    assert f"No interval of mig: {reason}." in str(card)
    assert reason in card._repr_html_()


def test_the_estimate_grows_with_rows_latents_and_classes():
    small = total_seconds(plan(1_000, 10, 10, intervals=None).tasks)
    assert total_seconds(plan(4_000, 10, 10, intervals=None).tasks) > 2 * small
    assert total_seconds(plan(1_000, 40, 10, intervals=None).tasks) > 2 * small
    assert total_seconds(plan(1_000, 10, 30, intervals=None).tasks) > 1.5 * small


def test_scores_are_printed_when_they_are_done_if_asked(capsys):
    evaluate(CODES, FACTORS, metrics="mig,active_units", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("scoring takes about 0 s")
    assert sorted(line.split()[0] for line in lines[1:]) == ["active_units", "mig"]
    evaluate(CODES, FACTORS, metrics="mig")
    assert capsys.readouterr().err == ""


def test_replicates_are_left_out_together():
    own = plan(300, 4, 4, intervals=True)
    outcomes = run_tasks(own.tasks_of("dci", "replicate"), workers=1, budget=1e-6)
    assert outcomes == {}
