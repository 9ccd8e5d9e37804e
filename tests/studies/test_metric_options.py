"""Metrics with options in study files: the scores of Python and the command line."""

import json

import pandas as pd
import pytest
from miniature_study import MINIATURE
from whole_command import run_whole

import unbraid
from unbraid.execution import InlineExecutor
from unbraid.foundation import write_yaml
from unbraid.studies import read_study, run_study, study_from_plain, study_table

ROWS = 40
# Ids of runs from before metrics had options.
PINNED = {"mig": "aecdb160f4883b1d", "mig, dci": "30134f0e2823be83"}
ENTRIES = [
    "mig",
    {"name": "mig", "estimator": "posterior"},
    "sap:score=r2",
    {"name": "dci", "variant": "logistic", "n_train": 20},
    "dci:n_train=20",
    "downstream:predictor=logistic,sizes=[10,20]",
    "downstream:sizes=[10,20]",
    "latent_data_correlation",
]
TEXT = (
    "mig,mig:estimator=posterior,sap:score=r2,dci:n_train=20,variant=logistic,"
    "dci:n_train=20,downstream:sizes=[10,20],predictor=logistic,"
    "downstream:sizes=[10,20],latent_data_correlation"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished study of one run, from a file."""
    path = tmp_path_factory.mktemp("studies") / "mini.yaml"
    evaluation = {"metrics": ENTRIES, "rows": ROWS, "seed": 3}
    path.write_text(write_yaml(MINIATURE | {"evaluation": evaluation}))
    result = run_study(
        read_study(path), path.with_suffix(""), executor=InlineExecutor()
    )
    assert result.failed == 0, result.runs[0].error
    return path.with_suffix("")


def test_python_command_line_and_study_agree_to_the_last_digit(folder, tmp_path):
    run = next((folder / "runs").iterdir())
    study = json.loads((run / "scores.json").read_text())
    assert study["failures"] == {}
    card = unbraid.evaluate(
        unbraid.load(run),
        MINIATURE["data"],
        metrics=ENTRIES,
        rows=ROWS,
        seed=3,
        intervals=False,
        levels=False,
        progress=False,
    )
    arguments = [
        *("evaluate", run, "--data", MINIATURE["data"], "--rows", ROWS, "--seed", 3),
        *("--metrics", TEXT, "--json", tmp_path / "scores.json"),
        *("--no-intervals", "--no-levels"),
    ]
    result = run_whole(*arguments)
    assert result.returncode == 0, result.stderr
    written = json.loads((tmp_path / "scores.json").read_text())["scores"]
    assert list(card) == list(written) == list(study["scores"])[: len(card)]
    assert "mig[estimator=posterior]" in card
    assert "dci_completeness[variant=logistic,n_train=20]" in card
    for name, score in card.items():
        assert written[name]["value"] == study["scores"][name]["value"] == score
        assert study["scores"][name].get("per_factor", {}) == dict(score.per_factor)
        assert study["scores"][name].get("details", {}) == dict(score.details)


def test_parts_of_scores_are_columns_on_request(folder, tmp_path):
    table = study_table(folder)
    assert "score.mig[estimator=posterior]" in table
    assert not any(name.startswith(("detail.", "per_factor.")) for name in table)
    run = next((folder / "runs").iterdir())
    scores = json.loads((run / "scores.json").read_text())["scores"]
    name = "downstream_accuracy[predictor=logistic,sizes=[10, 20]]"
    path = tmp_path / "table.csv"
    result = run_whole("study", "table", folder, "--details", "-o", path)
    assert result.returncode == 0, result.stderr
    written = pd.read_csv(path)
    assert list(written.columns) == list(study_table(folder, details=True))
    details = scores[name]["details"]
    assert written[f"detail.{name}.accuracy_10"][0] == details["accuracy_10"]
    factor, value = next(iter(scores["mig"]["per_factor"].items()))
    assert written[f"per_factor.mig.{factor}"][0] == value


def test_options_change_the_run_and_names_alone_do_not():
    def id_of(metrics):
        study = study_from_plain(MINIATURE | {"evaluation": {"metrics": metrics}})
        return study.runs()[0].id("data")

    assert id_of("mig") == PINNED["mig"]
    assert id_of(["mig", "dci"]) == PINNED["mig, dci"]
    posterior = id_of(["mig:estimator=posterior"])
    assert posterior not in PINNED.values()
    assert id_of([{"name": "mig", "estimator": "posterior"}]) == posterior
    assert id_of({"name": "mig", "estimator": "posterior"}) == posterior


def test_unknown_options_are_refused_before_anything_is_trained():
    entry = {"name": "mig", "estimatr": "posterior"}
    study = study_from_plain(MINIATURE | {"evaluation": {"metrics": [entry]}})
    with pytest.raises(ValueError, match="Did you mean 'estimator'") as error:
        study.runs()
    assert "evaluation.metrics: mig has no option 'estimatr'" in str(error.value)
