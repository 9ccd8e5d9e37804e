"""Transfer of hyperparameters across datasets and metrics."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from study_tables import study_table

from unbraid.foundation import numpy_generator
from unbraid.studies.analysis import strengths, transfer


def noise(name: str, n_values: int = 1000):
    """A score that is unrelated to everything, rounded so that some are equal."""

    def draw(data: str, method: str, rank: int, seed: int) -> float:
        generator = numpy_generator(seed, name, data, method, rank)
        return int(generator.integers(n_values)) / n_values

    return draw


def by_setting(data: str, method: str, rank: int, seed: int) -> float:
    """A score that the setting decides alone."""
    return 10.0 * (method == "beta_vae") + rank


def probability(table: pd.DataFrame, metric: str, dataset: str, **options) -> float:
    found = transfer(table, **options).probabilities.set_index(["metric", "dataset"])
    return found.loc[(metric, dataset), "probability"]


def literal(table: pd.DataFrame, scores: list[str]) -> dict[tuple[str, str], float]:
    """The published trials, all of them, one at a time."""
    runs = strengths(table)
    runs["setting"] = runs["method"] + " " + runs["strength_rank"].astype(str)
    outcomes: dict[tuple[str, str], list[tuple[float, float]]] = {}
    cells = list(itertools.product(pd.unique(runs["data"]), scores))
    for (data, score), (other_data, other_score) in itertools.product(cells, repeat=2):
        kind = (
            "same" if score == other_score else "different",
            "same" if data == other_data else "different",
        )
        for seed, other_seed in itertools.permutations(pd.unique(runs["seed"]), 2):
            source = runs[(runs["data"] == data) & (runs["seed"] == seed)]
            source = source.dropna(subset=f"score.{score}")
            target = runs[(runs["data"] == other_data) & (runs["seed"] == other_seed)]
            target = target.dropna(subset=f"score.{other_score}")
            if source.empty:
                continue
            values = source[f"score.{score}"]
            best = source["setting"][values == values.max()]
            for setting in best:
                own = target[target["setting"] == setting][f"score.{other_score}"]
                if len(own):
                    rivals = target[f"score.{other_score}"]
                    share = (own.item() >= rivals).mean()
                    outcomes.setdefault(kind, []).append((1 / len(best), share))
    return {
        kind: sum(weight * share for weight, share in made)
        / sum(weight for weight, _ in made)
        for kind, made in outcomes.items()
    }


def test_probabilities_are_those_of_all_trials_one_at_a_time() -> None:
    table = study_table(
        {"score.mig": noise("mig", 5), "score.sap": noise("sap", 5)},
        datasets=["a", "b"],
        n_seeds=3,
    )
    generator = numpy_generator(0, "holes")
    table = table[generator.random(len(table)) > 0.1].reset_index(drop=True)
    table.loc[generator.random(len(table)) < 0.1, "score.mig"] = np.nan
    expected = literal(table, ["mig", "sap"])
    found = transfer(table).probabilities
    assert len(expected) == len(found) == 4
    for row in found.itertuples():
        assert row.probability == pytest.approx(expected[row.metric, row.dataset])


def test_settings_that_decide_the_score_always_transfer() -> None:
    table = study_table(
        {"score.mig": by_setting, "score.sap": by_setting}, datasets=["a", "b"]
    )
    found = transfer(table).probabilities
    assert found["probability"].tolist() == [1.0] * 4
    # Six settings without ties: (6 + 1) / 12.
    np.testing.assert_allclose(found["chance"], 7 / 12)
    assert found["comparisons"].tolist() == [4 * 12, 4 * 12, 4 * 12, 4 * 12]


def test_opposite_metrics_never_transfer_but_to_the_run_itself() -> None:
    table = study_table(
        {"score.mig": by_setting, "score.sap": lambda *at: -by_setting(*at)}
    )
    assert probability(table, "same", "same") == 1.0
    assert probability(table, "different", "same") == pytest.approx(1 / 6)


def test_noise_transfers_as_often_as_chance() -> None:
    table = study_table(
        {"score.mig": noise("mig"), "score.sap": noise("sap")},
        datasets=["a", "b"],
        n_seeds=60,
    )
    found = transfer(table).probabilities
    np.testing.assert_allclose(found["probability"], found["chance"], atol=0.04)
    np.testing.assert_allclose(found["chance"], 7 / 12, atol=0.005)
    off = abs(found["probability"] - found["chance"])
    assert (off < 4 * found["error"]).all()
    assert (found["error"] > 0.002).all()


def test_equal_scores_count_as_success() -> None:
    table = study_table({"score.mig": lambda *_: 0.5})
    assert probability(table, "same", "same") == 1.0


def test_one_dataset_transfers_across_metrics_only() -> None:
    table = study_table({"score.mig": noise("mig"), "score.sap": noise("sap")})
    found = transfer(table).probabilities
    assert found["reason"].tolist() == ["", "one dataset only", "", "one dataset only"]
    assert found["probability"].isna().tolist() == [False, True, False, True]


def test_one_metric_transfers_across_datasets_only() -> None:
    table = study_table({"score.mig": noise("mig")}, datasets=["a", "b"])
    found = transfer(table).probabilities
    assert found["reason"].tolist() == ["", "", "one score only", "one score only"]


def test_one_seed_and_one_setting_and_no_run_allow_no_comparison() -> None:
    table = study_table({"score.mig": noise("mig")}, n_seeds=2)
    one_seed = transfer(table[table["seed"] == 0]).probabilities
    assert math.isnan(one_seed["probability"].iloc[0])
    assert one_seed["reason"].iloc[0] == "no setting has runs with two seeds"
    one_setting = transfer(table[:2]).probabilities
    assert one_setting["reason"].iloc[0] == "fewer than two settings"
    nothing = transfer(table.assign(status="failed"))
    assert nothing.probabilities["probability"].isna().all()
    assert nothing.n_left_out == 12


def test_cells_average_to_the_probabilities() -> None:
    table = study_table(
        {"score.mig": noise("mig"), "score.sap": noise("sap")}, datasets=["a", "b"]
    )
    found = transfer(table)
    assert found.n_settings == 6
    cells = found.cells
    same = cells[
        (cells["source_data"] == cells["target_data"])
        & (cells["source_score"] == cells["target_score"])
    ]
    expected = found.probabilities["probability"].iloc[0]
    assert same["probability"].mean() == pytest.approx(expected)


def test_failed_runs_take_part_in_no_comparison() -> None:
    table = study_table({"score.mig": noise("mig")})
    expected = transfer(table[5:]).probabilities
    table.loc[:4, "status"] = "failed"
    found = transfer(table)
    assert found.n_left_out == 5
    pd.testing.assert_frame_equal(found.probabilities, expected)


def test_two_runs_of_the_same_setting_and_seed_are_refused() -> None:
    table = study_table({"score.mig": noise("mig")})
    with pytest.raises(
        ValueError, match="has two of beta_vae on xy_squares with seed 0"
    ):
        transfer(pd.concat([table, table]))


def test_a_table_lacking_columns_is_refused() -> None:
    table = study_table({"score.irs": noise("irs")})
    with pytest.raises(ValueError, match="no column 'seed'"):
        transfer(table.drop(columns="seed"))
    with pytest.raises(ValueError, match="beta_vae_score, factor_vae_score"):
        transfer(table)
    assert len(transfer(table, ["irs"]).cells) == 1
