"""What a study does, in one process; the other executors must do the same."""

import json

import pandas as pd
import pytest

from unbraid.studies import (
    StudyFolder,
    prune,
    retry_failed,
    save_table,
    study_from_plain,
    study_status,
    study_table,
)
from unbraid.training import Trace, load


def ids(folder):
    return {path.name for path in (folder / "runs").iterdir()}


def test_every_run_is_trained_scored_and_a_row_of_the_table(tmp_path, run_here):
    end = run_here(methods={"beta_vae": {"beta": [1, 4]}, "ae": None}, seeds=2)
    assert (end.done, end.failed, end.left) == (6, 0, 0)
    table = pd.read_csv(tmp_path / "study" / "table.csv")
    assert list(table["objective.name"]) == ["beta_vae"] * 4 + ["ae"] * 2
    assert list(table["seed"]) == [0, 1] * 3
    assert (table["status"] == "done").all()
    assert table["score.mig"].between(0, 1).all()
    # A plain autoencoder has no divergence, and so no bound either.
    assert list(table["final.elbo"].isna()) == [False] * 4 + [True] * 2
    fit = table[:4]
    bound = -fit["final.reconstruction"] - fit["final.kl"]
    pd.testing.assert_series_equal(fit["final.elbo"], bound, check_names=False)


def test_the_models_of_a_study_are_models_like_any_other(tmp_path, run_here):
    run_here()
    (name,) = ids(tmp_path / "study")
    assert load(tmp_path / "study" / "runs" / name).n_latents == 3


def test_the_second_time_there_is_nothing_to_do(tmp_path, run_here):
    run_here(seeds=2)
    files = {p: p.stat().st_mtime_ns for p in (tmp_path / "study").rglob("*.safet*")}
    table = (tmp_path / "study" / "table.csv").read_bytes()
    run_here(seeds=2)
    assert files == {path: path.stat().st_mtime_ns for path in files}
    assert (tmp_path / "study" / "table.csv").read_bytes() == table


def test_a_changed_value_adds_only_the_new_cells(tmp_path, run_here):
    run_here(methods={"beta_vae": {"beta": [1, 2]}})
    before = ids(tmp_path / "study")
    run_here(methods={"beta_vae": {"beta": [2, 3]}})
    after = ids(tmp_path / "study")
    assert before < after
    assert len(after) == 3
    assert list(study_table(tmp_path / "study")["objective.beta"]) == [2, 3]


def test_a_run_that_cannot_work_is_a_row_with_its_error(tmp_path, run_here):
    end = run_here(network="disentanglement_lib", seeds=2)
    assert (end.done, end.failed, end.left) == (0, 2, 0)
    table = study_table(tmp_path / "study")
    assert table["error"].str.contains("64x64").all()
    status = study_status(tmp_path / "study")
    assert status.counts["failed"] == 2
    assert "64x64" in status.to_plain()["failed"][0]["error"]
    frame = status.to_frame()
    assert list(frame["state"]) == ["failed", "failed"]
    assert frame["error"].str.contains("64x64").all()


def test_one_bad_run_does_not_stop_the_others_and_can_be_tried_again(
    tmp_path, run_here
):
    methods = {"beta_vae": {"beta": [1, 4]}}
    grid = {"training.learning_rate": [1e-3, 1e30]}
    end = run_here(methods=methods, grid=grid)
    assert (end.done, end.failed) == (2, 2)
    assert "finite" in study_table(tmp_path / "study")["error"].iloc[1]
    assert run_here(methods=methods, grid=grid).failed == 2
    assert retry_failed(tmp_path / "study") == 2
    assert study_status(tmp_path / "study").counts["failed"] == 0
    assert run_here(methods=methods, grid=grid).failed == 2


def test_data_without_labels_get_the_scores_that_need_none(tmp_path, run_here, plain):
    import numpy as np

    path = tmp_path / "pictures.npy"
    np.save(path, np.random.default_rng(0).integers(0, 255, (50, 8, 8), dtype=np.uint8))
    run_here(data=str(path), evaluation={"metrics": "standard"})
    table = study_table(tmp_path / "study")
    assert "score.mig" not in table
    assert table["score.gaussian_total_correlation"].notna().all()


def test_the_table_can_be_kept_as_parquet(tmp_path, run_here):
    run_here(seeds=2)
    table = study_table(tmp_path / "study")
    save_table(table, tmp_path / "table.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "table.parquet"), table)


def test_all_snapshots_of_traces_are_recorded(tmp_path, run_here):
    run_here(seeds=2, traces={"n_snapshots": 7})
    paths = list((tmp_path / "study" / "runs").iterdir())
    assert len(paths) == 2
    for path in paths:
        # The miniature has 20 steps and a record every five.
        assert Trace.load(path).steps.tolist() == [0, 3, 7, 10, 13, 17, 20]


def test_pruning_deletes_states_first_and_models_only_when_told(tmp_path, run_here):
    run_here(seeds=3, traces=True)
    study = tmp_path / "study"
    before = study_table(study)
    assert prune(study).n_files == 3
    assert not list(study.rglob("state.safetensors"))
    assert len(list(study.rglob("traces.safetensors"))) == 3
    assert prune(study, budget=10**9).n_files == 0
    assert prune(study, budget=1).n_files == 3
    assert len(list(study.rglob("model.safetensors"))) == 3
    assert prune(study, budget=1, models=True).n_files == 3
    pd.testing.assert_frame_equal(study_table(study), before)


def test_pruning_stops_as_soon_as_the_budget_is_met(tmp_path, run_here):
    run_here(seeds=3, traces=True)
    size = prune(tmp_path / "study").size
    assert prune(tmp_path / "study", budget=size - 1).n_files == 1


def test_strangers_are_deleted_only_when_told(tmp_path, run_here):
    run_here(seeds=3)
    run_here(seeds=1)
    assert prune(tmp_path / "study").n_strangers == 0
    assert prune(tmp_path / "study", strangers=True).n_strangers == 2
    assert len(ids(tmp_path / "study")) == 1


def test_a_budget_that_cannot_be_kept_stops_the_study(tmp_path, plain):
    from unbraid.execution import InlineExecutor
    from unbraid.studies import run_study

    study = study_from_plain(plain | {"seeds": 4})
    with pytest.raises(OSError, match="may take"):
        run_study(study, tmp_path / "study", executor=InlineExecutor(), disk_budget=100)
    assert len(ids(tmp_path / "study")) == 1
    assert study_status(tmp_path / "study").counts["done"] == 1


def test_status_of_a_study_that_has_not_begun(tmp_path, plain):
    folder = StudyFolder(tmp_path / "study")
    study = study_from_plain(plain | {"seeds": 3})
    folder.write(study, {plain["data"]: "fingerprint"})
    status = study_status(folder.path)
    assert status.counts["waiting"] == 3
    assert list(status.to_frame()["id"]) == [cell.id for cell in folder.cells]
    assert list(status.to_frame()["step"]) == [0, 0, 0]
    assert list(study_table(folder.path)["status"]) == ["waiting"] * 3


def test_scores_do_not_depend_on_the_order_of_runs_or_on_how_often_they_are_made(
    tmp_path, run_here
):
    run_here(seeds=[0, 1, 2])
    run_here(tmp_path / "other", seeds=[2, 1, 0])

    def scores(folder):
        return {
            path.parent.name: json.loads(path.read_text())
            for path in (folder / "runs").glob("*/scores.json")
        }

    assert scores(tmp_path / "study") == scores(tmp_path / "other")


def test_a_metric_that_is_refused_in_every_run_has_an_empty_column(run_here, tmp_path):
    # From one hidden unit, the latents are linearly dependent.
    run_here(
        network={"name": "dense", "widths": [1]},
        evaluation={"metrics": ["gaussian_total_correlation", "mig"], "rows": 50},
    )
    table = study_table(tmp_path / "study")
    assert table["score.gaussian_total_correlation"].isna().all()
    assert table["score.mig"].notna().all()
