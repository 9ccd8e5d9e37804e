"""Two encoders on the same rows."""

import json

import numpy as np
import pytest

import unbraid
from unbraid.metrics import Comparison, Metric, Scorecard, compare, evaluate
from unbraid.representation import Representation

MIX = np.array([[1.0, 0.4], [-0.4, 1.0]])
CHEAP = "mig,modularity,sap"


def tables(n_rows, seed):
    """The same rows seen by an encoder, and by one that mixes two latents."""
    generator = np.random.default_rng(seed)
    factors = generator.integers(0, 4, (n_rows, 2))
    good = factors + 0.5 * generator.normal(size=(n_rows, 2))
    mixed = good @ MIX + 0.1 * generator.normal(size=(n_rows, 2))
    return {"good": good, "mixed": mixed}, factors


@pytest.fixture(scope="module")
def result():
    return compare(*tables(600, 0), metrics=CHEAP + ",active_units", n_jobs=1)


def test_scores_are_those_of_evaluate(result):
    codes, factors = tables(600, 0)
    for name, table in codes.items():
        card = evaluate(table, factors, metrics=CHEAP, n_jobs=1)
        for score, value in card.items():
            assert result[name][score] == value
            assert result[name][score].interval == value.interval


def test_differences_are_from_the_first_and_say_which_is_better(result):
    difference = result.difference("mig")
    assert (difference.baseline, difference.name) == ("good", "mixed")
    assert difference.value == result["mixed"]["mig"] - result["good"]["mig"] < 0
    low, high = difference.interval
    assert low < difference.value < high < 0
    assert difference.better == "good"
    assert result.difference("active_units").better == ""
    with pytest.raises(KeyError, match="no difference of 'dci'"):
        result.difference("dci")


def test_a_clear_difference_needs_no_clear_scores():
    # The halves are the same for both, so that what they share cancels.
    codes, factors = tables(300, 1)
    near = codes["good"] + 0.05 * np.random.default_rng(0).normal(size=(300, 2))
    result = compare({"a": codes["good"], "b": near}, factors, metrics="mig")
    low, high = result.difference("mig").interval
    a_low, a_high = result["a"]["mig"].interval
    assert high - low < 0.5 * (a_high - a_low)


def test_identical_representations_do_not_differ():
    codes, factors = tables(300, 2)
    same = {"a": codes["good"], "b": codes["good"].copy()}
    for difference in compare(same, factors, metrics=CHEAP).differences:
        assert difference.value == 0.0
        assert difference.better == ""


def test_lower_may_be_better():
    codes, _ = tables(300, 3)
    noise = np.random.default_rng(0).normal(size=(300, 2))
    result = compare(
        {"twins": np.column_stack([codes["good"][:, 0]] * 2) + 0.1 * noise, "n": noise},
        metrics="gaussian_total_correlation",
    )
    assert result.difference("gaussian_total_correlation").better == "n"


def test_a_comparison_is_a_table_in_every_form(result, tmp_path):
    frame = result.to_frame().set_index("score")
    assert frame.loc["mig", "good"] == result["good"]["mig"]
    assert frame.loc["mig", "mixed - good"] == result.difference("mig").value
    assert frame.loc["mig", "mixed - good high"] == result.difference("mig").interval[1]
    assert frame.loc["mig", "better (good, mixed)"] == "good"
    assert "mixed - good" in str(result)
    result.to_json(tmp_path / "both.json")
    record = json.loads((tmp_path / "both.json").read_text())
    assert record["cards"]["good"]["scores"]["mig"]["value"] == result["good"]["mig"]
    page = result._repr_html_()
    assert page.count("<tr>") == 5
    assert len(page) < 3_000


def test_names_are_escaped():
    codes, factors = tables(100, 0)
    named = {"<i>a</i>": codes["good"], "$b$": codes["mixed"]}
    result = compare(named, factors, metrics="mig")
    assert "<i>" not in result._repr_html_()
    result.plot().draw_without_rendering()


def test_figures_have_labels_and_a_panel_for_each_scale(result):
    figure = result.plot()
    assert len(figure.axes) == 4  # active_units is no share
    assert figure.axes[-2].get_xlabel() == "score"
    assert "difference from good" in figure.axes[-1].get_xlabel()
    names = [text.get_text() for text in figure.axes[0].get_yticklabels()]
    assert names == ["mig", "modularity", "sap"]
    card = result["good"].plot()
    assert card.axes[-1].get_xlabel() == "score"
    with pytest.raises(ValueError, match="no scores to plot"):
        Scorecard(scores=()).plot()


def test_more_than_two_are_compared_with_the_first():
    codes, factors = tables(200, 0)
    result = compare({**codes, "third": codes["mixed"][:, :1]}, factors, metrics=CHEAP)
    assert [d.name for d in result.differences if d.score == "modularity"] == [
        "mixed",
        "third",
    ]
    # A metric that cannot be computed for one leaves a gap there alone.
    assert "mig" in result["third"].failures
    assert [d.name for d in result.differences if d.score == "mig"] == ["mixed"]
    assert "third: mig: no score" in str(result)
    result.plot().draw_without_rendering()


def test_representations_bring_their_factors():
    codes, factors = tables(200, 0)
    made = {
        name: Representation(table, factors=factors, factor_names=("x", "y"))
        for name, table in codes.items()
    }
    result = unbraid.compare(made, metrics="mig", intervals=False)
    assert isinstance(result, Comparison)
    assert result["good"].factor_names == ("x", "y")
    assert result.difference("mig").interval is None
    assert "No interval of mig: not requested." in str(result)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"a": np.zeros((5, 2))}, "at least two representations"),
        ([np.zeros((5, 2))] * 2, "at least two representations by name"),
        ({"a": np.eye(5), "b": np.eye(4)}, "a has 5, b has 4"),
    ],
)
def test_wrong_tables_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        compare(wrong, metrics="active_units")


def test_a_metric_with_several_scores_is_a_group():
    codes, factors = tables(200, 0)
    card = evaluate(codes["good"], factors, metrics="mig,dci", n_jobs=1)
    group = card["dci"]
    assert list(group) == [
        "dci_disentanglement", "dci_completeness", "dci_informativeness",
    ]  # fmt: skip
    assert group["dci_completeness"] is card["dci_completeness"]
    assert len(card) == 4


def covers(intervals, truth):
    return np.mean([low <= truth <= high for low, high in intervals])


@pytest.mark.slow
@pytest.mark.parametrize(
    # On 400 rows, intervals of modularity are far too wide: at half the rows it
    # varies more than in proportion.
    ("score", "n_rows"),
    [("mig", 400), ("irs", 400), ("modularity", 2_000)],
)
def test_intervals_of_differences_hold_what_they_claim(score, n_rows):
    differences, intervals = [], []
    for trial in range(200):
        codes, factors = tables(n_rows, trial)
        made = compare(codes, factors, metrics=score, seed=trial, n_jobs=1)
        differences.append(made.difference(score).value)
        intervals.append(made.difference(score).interval)
    truth = np.mean(differences)
    # 95 of 100 are claimed, and 90 must hold; 200 trials vary by 2.
    assert 0.88 <= covers(intervals, truth) <= 0.995
    # The test can fail: intervals of a third of the width do not pass.
    middle, width = np.mean(intervals, axis=1), np.ptp(intervals, axis=1) / 3
    narrow = np.stack([middle - width / 2, middle + width / 2], axis=1)
    assert covers(narrow, truth) < 0.85


def endless(codes, factors):
    raise AssertionError("this was not to be started")


def test_levels_kinds_and_a_budget_are_as_for_evaluate(capsys):
    codes, factors = tables(200, 0)
    options = {"metrics": "mig", "intervals": False, "n_jobs": 1}
    kinds = {"factor_0": "cyclic"}
    result = compare(codes, factors, levels=True, kinds=kinds, progress=True, **options)
    alone = evaluate(codes["mixed"], factors, kinds=kinds, **options)
    assert result["mixed"]["mig"].chance == alone["mig"].chance is not None
    assert result["mixed"].factor_kinds == ("cyclic", "ordinal")
    assert "mixed: mig 0." in capsys.readouterr().err
    options["metrics"] = ["mig", Metric(endless, 1e9)]
    late = compare(codes, factors, budget="5m", progress=False, **options)
    assert set(late["good"].skipped) == {"endless"}
    assert capsys.readouterr().err == ""


def test_a_difference_is_found_by_name():
    codes, factors = tables(200, 0)
    result = compare({**codes, "third": -codes["mixed"]}, factors, metrics="mig")
    assert result.difference("mig", "third").name == "third"
    assert result.difference("mig").name == "mixed"
    with pytest.raises(KeyError, match="no difference of 'mig' for 'fourth'"):
        result.difference("mig", "fourth")
