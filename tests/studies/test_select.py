"""Choosing a run of any finished study without labels."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from miniature_study import MINIATURE
from whole_command import run_whole

from unbraid import encode, load
from unbraid.data import open_dataset
from unbraid.execution import InlineExecutor
from unbraid.selection import (
    SCORES,
    ScoredRun,
    label_free_scores,
    training_dynamics,
)
from unbraid.studies import run_study, select_run, study_from_plain, study_table
from unbraid.training import Trace

GRID = {"objective.beta": [0.01, 0.1, 1.0], "training.n_latents": [3, 4]}
STUDY = MINIATURE | {
    "grid": GRID,
    "seeds": 2,
    "training": MINIATURE["training"] | {"steps": 60},
    "traces": {"layer": ["1", "0"], "n_observations": 12, "n_snapshots": 4},
}
QUICK = ["udr_spearman", "dynamics", "self_mig", "elbo", "active_latents"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study of six configurations with two seeds and traces of two layers."""
    path = tmp_path_factory.mktemp("studies") / "study"
    result = run_study(study_from_plain(STUDY), path, executor=InlineExecutor())
    assert result.done == 12
    return path


@pytest.fixture(scope="module")
def selection(folder):
    return select_run(folder, sensitivity=True, progress=False)


def traces_of(folder, *, layer=""):
    """Traces of the seeds of each configuration, in the order of the study."""
    table = study_table(folder)
    traces = {}
    for row in table.to_dict("records"):
        name = (
            f"beta_vae beta={row['objective.beta']:g}, "
            f"n_latents={row['training.n_latents']}"
        )
        trace = Trace.load(folder / "runs" / row["id"], layer=layer)
        traces.setdefault(name, []).append(trace)
    return traces


def test_every_score_is_that_of_its_function(folder, selection):
    table = study_table(folder).set_index("id")
    dataset = open_dataset(MINIATURE["data"])
    rows = np.arange(len(dataset))
    runs = []
    for id in table.index:
        model = load(folder / "runs" / id)
        configuration = (
            f"{table['objective.beta'][id]}, {table['training.n_latents'][id]}"
        )
        runs.append(
            ScoredRun(
                name=id,
                configuration=configuration,
                codes=encode(model, dataset, rows=rows, progress=False),
                model=model,
                trace=Trace.load(folder / "runs" / id),
            )
        )
    names = [name for name in SCORES if name != "elbo"]
    expected = label_free_scores(runs, names)
    found = selection.runs.set_index("run").loc[list(table.index)]
    for name in names:
        np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    assert found["elbo"].tolist() == table["final.elbo"].tolist()
    assert found["mig"].tolist() == table["score.mig"].tolist()


def test_runs_are_in_the_order_of_the_ranking(selection):
    names = [model.name for model in selection.ranking.models]
    assert selection.runs["name"].tolist() == names
    assert len(set(names)) == 12
    first = selection.runs.loc[0]
    assert first["name"] == f"{first['configuration']}, seed {first['seed']}"
    chosen = selection.ranking.chosen
    assert selection.chosen == (first["run"] if chosen else None)


def test_each_score_chooses_its_best_run(selection):
    runs = selection.runs.set_index("name")
    for row in selection.scores.to_dict("records"):
        values = runs[row["score"]]
        best = values.max() if row["better"] == "high" else values.min()
        assert values[row["chosen"]] == best, row["score"]
        assert row["chosen_reference"] == runs["mig"][row["chosen"]]
        sign = 1 if row["better"] == "high" else -1
        expected = pd.Series(sign * values).corr(runs["mig"], method="spearman")
        if not np.isnan(expected):
            assert row["correlation"] == pytest.approx(expected)
        assert row["skipped"] == ""


def test_options_and_layers_reach_training_dynamics(folder):
    for options, layer in (({"steps": 4, "n_neighbors": 2}, ""), ({}, "0")):
        found = select_run(
            folder, scores=["dynamics"], dynamics=options, layer=layer, progress=False
        )
        means = found.runs.groupby("configuration")["dynamics"].mean()
        for name, traces in traces_of(folder, layer=layer).items():
            expected = training_dynamics(traces, **options).score
            assert means[name] == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match="layer must be '1' or '0', got '9'"):
        select_run(folder, layer="9", progress=False)


def test_the_sensitivity_is_that_of_the_scores(folder, selection):
    table = selection.sensitivity
    assert table.groupby("option")["is_usual"].sum().eq(1).all()
    assert (table["agreement"][table["is_usual"]] == 1.0).all()
    assert set(table["value"][table["option"] == "layer"]) == {"0", "1"}
    mig = selection.runs.groupby("configuration")["mig"].mean()
    usual = {
        name: -training_dynamics(traces).score
        for name, traces in traces_of(folder).items()
    }
    for row, layer, options in (
        (("layer", "0"), "0", {}),
        (("steps", "8"), "", {"steps": 8}),
    ):
        scores = {
            name: -training_dynamics(traces, **options).score
            for name, traces in traces_of(folder, layer=layer).items()
        }
        found = table[(table["option"] == row[0]) & (table["value"] == row[1])].iloc[0]
        assert found["most_stable"] == max(scores, key=scores.get)
        changed = pd.Series(scores)
        assert found["agreement"] == pytest.approx(
            changed.corr(pd.Series(usual), method="spearman")
        )
        assert found["correlation"] == pytest.approx(
            changed.corr(mig, method="spearman")
        )


def test_labels_are_not_used(folder, selection, tmp_path):
    other = tmp_path / "study"
    shutil.copytree(folder, other)
    for index, path in enumerate(sorted(other.glob("runs/*/scores.json"))):
        record = json.loads(path.read_text())
        record["scores"]["mig"]["value"] = index / 100
        path.write_text(json.dumps(record))
    found = select_run(other, scores=QUICK, progress=False)
    assert found.runs["run"].tolist() == selection.runs["run"].tolist()
    assert found.ranking.to_plain() == selection.ranking.to_plain()
    assert found.runs["mig"].tolist() != selection.runs["mig"].tolist()


def test_without_traces_the_ranking_does_without_dynamics(run_here, tmp_path):
    run_here(seeds=2)
    found = select_run(tmp_path / "study", scores=QUICK, progress=False)
    skipped = found.scores.set_index("score")["skipped"]
    assert "needs traces of two seeds" in skipped["dynamics"]
    assert skipped.drop("dynamics").eq("").all()
    with pytest.raises(ValueError, match="Record them with `traces: true`"):
        select_run(tmp_path / "study", sensitivity=True, progress=False)


def test_models_without_a_decoder_have_the_scores_that_need_none(run_here, tmp_path):
    objective = {"name": "tae", "decoder": False}
    run_here(objective=objective, seeds=2, network={"name": "dense", "widths": [8]})
    found = select_run(tmp_path / "study", progress=False)
    skipped = found.scores.set_index("score")["skipped"]
    assert "needs model" in skipped["pipe"]
    assert "needs log_variances" in skipped["elbo"] or "have none" in skipped["elbo"]
    assert skipped["udr_lasso"] == skipped["active_latents"] == ""


def test_runs_on_several_datasets_are_not_compared(run_here, tmp_path):
    other = MINIATURE["data"].replace("rgb=false", "rgb=true")
    run_here(grid={"data": [MINIATURE["data"], other]}, seeds=2)
    folder = tmp_path / "study"
    with pytest.raises(ValueError, match="finished runs on 2 datasets"):
        select_run(folder, progress=False)
    with pytest.raises(ValueError, match="no finished run on 'nothing'"):
        select_run(folder, data="nothing", progress=False)
    found = select_run(folder, data=other, scores=["elbo"], progress=False)
    assert found.data == other
    assert len(found.runs) == 2


def test_configurations_that_differ_elsewhere_are_told_apart(run_here, tmp_path):
    run_here(grid={"evaluation.seed": [0, 1]}, seeds=2)
    found = select_run(tmp_path / "study", scores=["elbo"], progress=False)
    assert set(found.runs["configuration"]) == {"beta_vae", "beta_vae #2"}


def test_a_single_run_cannot_be_ranked(run_here, tmp_path):
    run_here()
    with pytest.raises(ValueError, match="at least two finished runs, got 1"):
        select_run(tmp_path / "study", progress=False)


def test_the_command_says_what_python_does(folder, tmp_path):
    table = tmp_path / "runs.csv"
    names = ",".join(QUICK)
    arguments = ["study", "select", folder, "--scores", names, "--components", 3]
    expected = select_run(
        folder, scores=QUICK, dynamics={"n_components": 3}, progress=False
    )
    result = run_whole(*arguments, "--json", "--out", table)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == json.loads(json.dumps(expected.to_plain()))
    written = pd.read_csv(table)
    assert written["run"].tolist() == expected.runs["run"].tolist()
    result = run_whole(*arguments, "--sensitivity")
    assert result.returncode == 0, result.stderr
    for text in ("udr_spearman", "n_slice_neighbors", "Chosen: ", "was not used"):
        assert text in result.stdout
    assert expected.runs["name"][0] in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scores", "udr_laso"], "Did you mean 'udr_lasso'"),
        (["--out", "table.txt"], "must end in .csv"),
        (["--data", "xy_squares"], "no finished run on 'xy_squares'"),
        (["--layer", "9"], "layer must be '1' or '0'"),
    ],
)
def test_wrong_options_are_one_sentence(folder, arguments, message):
    result = run_whole("study", "select", folder, *arguments)
    assert result.returncode in (1, 2)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
