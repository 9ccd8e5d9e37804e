"""Budgets, estimates, progress and what has no interval."""

import numpy as np
import pytest

from unbraid.metrics import Metric, Score, evaluate

GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.integers(0, 4, (300, 2))
CODES = FACTORS + 0.2 * GENERATOR.normal(size=(300, 2))


def noise(codes, factors, seed):
    return Score(float(np.random.default_rng(seed).random()), name="noise")


def endless(codes, factors):
    raise AssertionError("this was not to be started")


def test_what_does_not_fit_into_the_budget_is_listed_as_skipped():
    slow = Metric(endless, 1e9)
    card = evaluate(CODES, FACTORS, metrics=[slow, "mig"], budget="5m", n_jobs=1)
    assert list(card) == ["mig"]
    assert "does not fit into the budget of 5 min" in card.skipped["endless"]
    assert "endless: skipped." in str(card)
    assert "endless" in card.to_frame()["score"].tolist()
    assert "endless" in card.to_json()
    with pytest.raises(KeyError, match="does not fit"):
        card["endless"]


def test_a_budget_changes_no_score():
    free = evaluate(CODES, FACTORS, metrics="mig,sap,dci", n_jobs=1)
    tight = evaluate(CODES, FACTORS, metrics="mig,sap,dci", budget="10m", n_jobs=1)
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
    evaluate(CODES, FACTORS, metrics=metrics, n_jobs=1)
    # Two values, chance and ideal of one of them, then eight halves of each.
    assert calls[:2] == [("first", 300), ("second", 300)]
    assert calls[2:4] == [("first", 300)] * 2
    assert calls[4:] == [("first", 150)] * 8 + [("second", 150)] * 8


@pytest.mark.parametrize("budget", ["soon", -1, 0])
def test_a_budget_is_a_duration(budget):
    with pytest.raises(ValueError, match="duration|time above 0"):
        evaluate(CODES, FACTORS, metrics="mig", budget=budget)


def test_by_default_slow_intervals_are_left_out_and_the_card_says_so():
    # Eight halves of a table that is a 250th of that of the catalog.
    quick, slow = Metric(noise, 10 * 250 / 4 - 1), Metric(noise, 10 * 250 / 4 + 1)
    cards = {
        (metric is slow, intervals): evaluate(
            CODES, FACTORS, metrics=metric, intervals=intervals, n_jobs=1
        )
        for metric in (quick, slow)
        for intervals in (None, True)
    }
    missing = {key for key, card in cards.items() if not card["noise"].interval}
    assert missing == {(True, None)}
    reason = "takes longer, use intervals=True or --intervals"
    assert cards[True, None].without_interval == {"noise": reason}


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


def estimate(capsys, n_rows, n_latents, n_classes, **options):
    """Seconds that are announced before a metric is run."""
    codes = np.zeros((n_rows, n_latents))
    factors = np.arange(n_rows) % n_classes
    metric = Metric(noise, 6_000.0, **options)
    evaluate(codes, factors, metrics=metric, intervals=False, levels=False, n_jobs=1,
             progress=True)  # fmt: skip
    number, unit = capsys.readouterr().err.splitlines()[0].split()[-2:]
    return float(number) * {"s": 1, "min": 60, "h": 3600}[unit]


def test_the_estimate_grows_with_rows_latents_and_classes(capsys):
    # In the catalog: 15,000 rows, 10 latents and 113 classes.
    assert estimate(capsys, 150, 10, 4) == 60
    assert estimate(capsys, 75, 10, 4) == 30
    assert estimate(capsys, 75, 20, 4) == 60
    assert estimate(capsys, 150, 10, 4, per_class=True) == 2
    assert estimate(capsys, 150, 10, 12, per_class=True) == 6
    # A metric that draws its rows takes no longer for more than it draws.
    assert estimate(capsys, 60_000, 1, 4, rows="some") == 600


def test_scores_are_printed_when_they_are_done_if_asked(capsys):
    evaluate(CODES, FACTORS, metrics="mig,active_units", progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("scoring takes about 0 s")
    assert sorted(line.split()[0] for line in lines[1:]) == ["active_units", "mig"]
    evaluate(CODES, FACTORS, metrics="mig")
    assert capsys.readouterr().err == ""
