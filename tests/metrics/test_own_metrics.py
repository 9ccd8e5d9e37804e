"""Metrics that are given as functions or objects."""

import numpy as np
import pytest

from unbraid.metrics import Metric, Score, evaluate, mutual_information_gap

GENERATOR = np.random.default_rng(0)
FACTORS = GENERATOR.integers(0, 4, (200, 2))
CODES = FACTORS + 0.2 * GENERATOR.normal(size=(200, 2))


def best_correlation(codes, factors):
    both = np.corrcoef(codes.T, factors[:, 0])
    return abs(both[-1, :-1]).max()


def spread(codes):
    return float(codes.std())


def broken(codes, factors):
    raise RuntimeError("out of order")


def lower(codes, factors, seed):
    return Score(0.25 + seed, name="lower", variant="mine")


def test_a_plain_function_is_a_metric_with_interval_and_chance():
    card = evaluate(CODES, FACTORS, metrics=["mig", best_correlation], n_jobs=1)
    assert list(card) == ["mig", "best_correlation"]
    score = card["best_correlation"]
    assert score == pytest.approx(best_correlation(CODES, FACTORS))
    assert score.chance < 0.3 < 0.9 < score
    assert score.interval[0] < score < score.interval[1]


def test_a_function_of_codes_alone_needs_no_factors():
    assert list(evaluate(CODES, metrics=spread)) == ["spread"]
    with pytest.raises(ValueError, match="the metric 'best_correlation' needs factors"):
        evaluate(CODES, metrics=[best_correlation])


def test_a_metric_object_says_what_is_known_about_it():
    metric = Metric(lower, 0.1, higher_is_better=False, bounds=(0.0, 1.0))
    card = evaluate(CODES, FACTORS, metrics=[metric, spread], seed=0)
    assert card["lower"] == 0.25
    assert card["lower"].variant == "mine"
    assert evaluate(CODES, FACTORS, metrics=metric)["lower"] == 0.25


def test_a_function_of_unbraid_goes_by_its_short_name():
    card = evaluate(CODES, FACTORS, metrics=[mutual_information_gap])
    assert list(card) == ["mig"]


def test_a_function_that_fails_takes_no_other_down():
    card = evaluate(CODES, FACTORS, metrics=[broken, "mig"])
    assert card.failures == {"broken": "RuntimeError: out of order"}
    assert list(card) == ["mig"]


def test_sets_and_own_metrics_may_be_mixed():
    card = evaluate(
        CODES, FACTORS, metrics=["standard", spread], intervals=False, levels=False
    )
    assert {"spread", "dci_completeness", "mig"} <= set(card)


def test_what_is_no_metric_is_refused():
    def mig(codes, factors):
        return 1.0

    with pytest.raises(ValueError, match="'mig' is the name of a known metric"):
        evaluate(CODES, FACTORS, metrics=[mig])
    with pytest.raises(
        ValueError, match="a name, a function or a Metric object, got 3"
    ):
        evaluate(CODES, FACTORS, metrics=["mig", 3])
    with pytest.raises(ValueError, match="two metrics have the name '<lambda>'"):
        evaluate(CODES, FACTORS, metrics=[lambda codes: 0.0, lambda codes: 1.0])
    card = evaluate(CODES, FACTORS, metrics=lambda codes: "text")
    assert "must return a Score" in card.failures["<lambda>"]
