"""Method and strength of a run, from the settings that vary."""

import numpy as np
import pandas as pd
import pytest
from study_tables import study_table

from unbraid.studies.analysis import strengths


def test_strength_is_the_setting_that_varies_within_the_method() -> None:
    found = strengths(study_table({}, n_seeds=2))
    factor = found[found["method"] == "factor_vae"]
    assert factor["strength"].tolist() == [10.0, 10.0, 40.0, 40.0, 100.0, 100.0]
    assert factor["strength_rank"].tolist() == [0, 0, 1, 1, 2, 2]
    assert found["strength"].dtype == float


def test_ranks_follow_size_and_not_the_order_of_the_rows() -> None:
    table = pd.DataFrame({"objective.name": "vae", "objective.beta": [100, 9, 20, 9]})
    assert strengths(table)["strength_rank"].tolist() == [2, 0, 1, 0]


def test_words_of_an_objective_make_methods() -> None:
    table = pd.DataFrame(
        {
            "objective.name": ["dip_vae"] * 4 + ["vae"],
            "objective.kind": ["i", "i", "ii", "ii", None],
            "objective.lambda_off_diagonal": [1.0, 2.0, 1.0, 2.0, np.nan],
        }
    )
    found = strengths(table)
    assert found["method"].tolist() == ["dip_vae i"] * 2 + ["dip_vae ii"] * 2 + ["vae"]
    assert found["strength_rank"].tolist() == [0, 1, 0, 1, 0]


def test_several_varying_settings_are_one_strength_in_words() -> None:
    table = pd.DataFrame(
        {
            "objective.name": "beta_vae",
            "objective.beta": [1, 1, 4, 4],
            "training.n_latents": [10, 5, 10, 5],
        }
    )
    found = strengths(table)
    assert found["strength"].iloc[0] == "beta=1, n_latents=10"
    assert found["strength_rank"].tolist() == [1, 0, 3, 2]


def test_nested_settings_and_lists_are_told_apart() -> None:
    table = pd.DataFrame(
        {
            "objective.name": "annealed_vae",
            "objective.capacity.name": "linear",
            "objective.capacity.end": [25.0, 5.0],
            "network.widths": [[64], [64]],
        }
    )
    found = strengths(table)
    assert found["method"].tolist() == ["annealed_vae"] * 2
    assert found["strength"].tolist() == [25.0, 5.0]
    table["network.widths"] = [[64], [32]]
    assert strengths(table)["strength"].iloc[1] == "capacity.end=5, widths=[32]"


def test_a_schedule_written_as_text_is_a_strength_and_no_method() -> None:
    schedules = ['{"name": "linear", "end": 5}', '{"name": "linear", "end": 25}']
    table = pd.DataFrame({"objective.name": "annealed_vae", "objective.c": schedules})
    found = strengths(table)
    assert found["method"].unique().tolist() == ["annealed_vae"]
    assert found["strength_rank"].nunique() == 2


def test_what_differs_between_datasets_only_does_not_vary() -> None:
    table = pd.DataFrame(
        {
            "data": ["a", "a", "b", "b"],
            "objective.name": "beta_vae",
            "objective.beta": [1, 4, 1, 4],
            "training.steps": [100, 100, 500, 500],
        }
    )
    assert strengths(table)["strength"].tolist() == [1.0, 4.0, 1.0, 4.0]


def test_without_anything_varying_there_is_one_strength() -> None:
    found = strengths(pd.DataFrame({"objective.name": ["vae", "vae"]}))
    assert found["strength"].isna().all()
    assert found["strength_rank"].tolist() == [0, 0]


def test_scores_and_times_are_no_settings() -> None:
    table = pd.DataFrame(
        {"objective.name": "vae", "score.mig": [0.1, 0.2], "seconds": [1.0, 2.0]}
    )
    assert strengths(table)["strength_rank"].tolist() == [0, 0]


def test_the_table_itself_stays_and_a_second_time_changes_nothing() -> None:
    table = study_table({})
    once = strengths(table)
    assert "method" not in table
    pd.testing.assert_frame_equal(strengths(once), once)


def test_an_empty_table_gets_the_columns() -> None:
    found = strengths(pd.DataFrame({"objective.name": []}))
    assert {"method", "strength", "strength_rank"} <= set(found.columns)


def test_a_table_without_objectives_is_refused() -> None:
    with pytest.raises(ValueError, match="column 'objective.name'"):
        strengths(pd.DataFrame({"data": ["a"]}))
    with pytest.raises(TypeError, match="needs a pandas table"):
        strengths([{"objective.name": "vae"}])


def test_a_hyperparameter_that_falls_is_one_strength() -> None:
    table = pd.DataFrame(
        {
            "objective.name": "beta_vae",
            "objective.beta.name": ["decay", "decay", None, "decay"],
            "objective.beta.value": [14.0, 7.0, np.nan, 28.0],
            "objective.beta.end": [3.5, 1.75, np.nan, 7.0],
            "objective.beta.share": [0.3, 0.3, np.nan, 0.3],
            "objective.beta": [None, None, 1.0, None],
        }
    )
    found = strengths(table)
    assert found["method"].tolist() == ["beta_vae"] * 4
    assert found["strength"].tolist() == ["14 to 3.5", "7 to 1.75", 1.0, "28 to 7"]
    assert found["strength_rank"].tolist() == [2, 1, 0, 3]
    one = strengths(table.iloc[:3:2])
    assert one["strength"].tolist() == ["14 to 3.5", 1.0]
    several = strengths(table.assign(**{"training.n_latents": [5, 6, 5, 6]}))
    assert several["strength"].iloc[0] == "beta=14 to 3.5, n_latents=5"


def test_schedules_that_differ_in_one_value_or_otherwise_stay_settings() -> None:
    table = pd.DataFrame(
        {
            "objective.name": "beta_vae",
            "objective.beta.name": "linear",
            "objective.beta.start": 0.0,
            "objective.beta.end": [4.0, 1.0],
        }
    )
    assert strengths(table)["strength"].tolist() == [4.0, 1.0]
    longer = table.assign(**{"objective.beta.share": [0.5, 1.0]})
    assert strengths(longer)["strength"].iloc[0] == "beta.end=4, beta.share=0.5"
    kinds = table.assign(**{"objective.beta.name": ["linear", "cosine"]})
    assert strengths(kinds)["method"].tolist() == ["beta_vae linear", "beta_vae cosine"]
