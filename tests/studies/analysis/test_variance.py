"""Shares of variance explained by objective, strength and seed."""

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from study_tables import study_table

from unbraid.foundation import numpy_generator
from unbraid.studies.analysis import strengths, variance_explained

METHOD = {"beta_vae": -1.0, "factor_vae": 1.0}


def additive(data: str, method: str, rank: int, seed: int) -> float:
    """Contributions that are orthogonal, with variances 1, 6, and 5/4 of seeds."""
    return METHOD[method] + 3.0 * (rank - 1) + (seed - 1.5)


def noise(data: str, method: str, rank: int, seed: int) -> float:
    return numpy_generator(seed, data, method, rank).normal()


def test_shares_of_additive_effects_are_their_variances() -> None:
    row = variance_explained(study_table({"score.mig": additive}), "mig").shares.iloc[0]
    total = 1.0 + 6.0 + 1.25
    assert row["objective"] == pytest.approx(1.0 / total)
    assert row["objective_and_strength"] == pytest.approx(7.0 / total)
    assert row["seed"] == pytest.approx(1.25 / total)
    assert (row["n_runs"], row["n_methods"], row["n_settings"]) == (24, 2, 6)
    assert row["objective_adjusted"] == pytest.approx(1 - 7.25 / total * 23 / 22)
    both = row["objective_and_strength_adjusted"]
    assert both == pytest.approx(1 - 1.25 / total * 23 / 18)
    assert row["reason"] == ""


def test_shares_are_those_of_a_regression_on_indicators() -> None:
    table = study_table({"score.mig": noise})[3:]  # unbalanced
    row = variance_explained(table, "mig").shares.iloc[0]
    runs = strengths(table)
    cells = runs["method"] + runs["strength_rank"].astype(str)
    scores = table["score.mig"]
    for column, groups in (
        ("objective", runs["method"]),
        ("objective_and_strength", cells),
    ):
        indicators = pd.get_dummies(groups).to_numpy(dtype=float)
        expected = LinearRegression().fit(indicators, scores).score(indicators, scores)
        assert row[column] == pytest.approx(expected)


def test_adjusted_shares_of_noise_are_zero_on_average_and_plain_ones_are_not() -> None:
    datasets = [f"draw {number}" for number in range(200)]
    table = study_table({"score.mig": noise}, datasets=datasets)
    shares = variance_explained(table).shares
    means = shares.mean(numeric_only=True)
    assert means["objective_and_strength"] == pytest.approx(5 / 23, abs=0.03)
    assert means["objective_and_strength_adjusted"] == pytest.approx(0, abs=0.03)
    assert means["objective_adjusted"] == pytest.approx(0, abs=0.02)


def test_scaling_and_shifting_a_score_changes_nothing() -> None:
    table = study_table({"score.mig": noise})
    table["score.sap"] = 7.0 - 2.0 * table["score.mig"]
    shares = variance_explained(table).shares.set_index("score")
    numbers = ["objective", "objective_and_strength", "seed"]
    np.testing.assert_allclose(
        shares.loc["mig", numbers].astype(float),
        shares.loc["sap", numbers].astype(float),
    )


def test_every_dataset_and_score_has_a_row_and_its_runs() -> None:
    table = study_table(
        {"score.mig": additive, "score.sap": noise}, datasets=["a", "b"]
    )
    found = variance_explained(table)
    rows = sorted(zip(found.shares["data"], found.shares["score"], strict=True))
    assert rows == [("a", "mig"), ("a", "sap"), ("b", "mig"), ("b", "sap")]
    assert len(found.runs) == 2 * len(table)
    assert {"method", "strength", "strength_rank", "value"} <= set(found.runs)


def test_missing_and_failed_runs_are_left_out() -> None:
    table = study_table({"score.mig": noise})
    expected = variance_explained(table[2:]).shares
    table.loc[0, "status"] = "failed"
    table.loc[1, "score.mig"] = np.nan
    found = variance_explained(table)
    assert found.n_left_out == 2
    pd.testing.assert_frame_equal(found.shares, expected)


def test_a_constant_score_has_no_shares_and_a_reason() -> None:
    table = study_table({"score.mig": lambda *_: 0.1 + 0.2})
    row = variance_explained(table).shares.iloc[0]
    assert math.isnan(row["objective"])
    assert math.isnan(row["seed"])
    assert row["reason"] == "the score does not vary among 24 runs"


def test_with_one_seed_nothing_is_left_to_it() -> None:
    row = variance_explained(study_table({"score.mig": noise}, n_seeds=1)).shares.iloc[
        0
    ]
    assert row["seed"] == pytest.approx(0.0, abs=1e-12)
    assert math.isnan(row["objective_and_strength_adjusted"])
    assert row["reason"].startswith("every setting has one run")


def test_one_method_explains_nothing_by_itself() -> None:
    row = variance_explained(study_table({"score.mig": additive})[:12]).shares.iloc[0]
    assert row["objective"] == pytest.approx(0.0, abs=1e-12)
    assert row["objective_and_strength"] == pytest.approx(6.0 / 7.25)


def test_one_run_and_no_run_have_no_shares() -> None:
    table = study_table({"score.mig": additive})
    assert variance_explained(table[:1]).shares["objective"].isna().all()
    assert variance_explained(table.assign(status="waiting")).shares.empty


def test_a_table_lacking_columns_is_refused() -> None:
    table = study_table({"score.mig": additive})
    with pytest.raises(ValueError, match="no column 'objective.name'"):
        variance_explained(table.drop(columns="objective.name"))
    with pytest.raises(ValueError, match="'score.sap'"):
        variance_explained(table, "sap")
