import json
import os
import re
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest
from command_line import app
from miniature_study import MINIATURE
from typer.testing import CliRunner

from unbraid.cli.commands import ExecutorOptions
from unbraid.execution import InlineExecutor
from unbraid.foundation import write_yaml
from unbraid.studies import run_study, study_from_plain


@pytest.fixture
def in_this_process(monkeypatch):
    """Commands train without the seconds that a worker takes to start."""
    monkeypatch.setattr(ExecutorOptions, "make", lambda self: InlineExecutor())


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def file(tmp_path):
    """A study of three runs, one of which cannot work."""
    rates = {"training.learning_rate": [1e-3, 1e-2, 1e30]}
    path = tmp_path / "mini.yaml"
    path.write_text(write_yaml(MINIATURE | {"grid": rates}))
    return path


@pytest.fixture
def folder(file):
    """The same study, done."""
    from unbraid.studies import read_study

    run_study(read_study(file), file.with_suffix(""), executor=InlineExecutor())
    return file.with_suffix("")


def test_a_dry_run_says_what_it_would_cost_and_writes_nothing(tmp_path, file):
    result = run("study", "run", file, "--dry-run", "--workers", 2)
    assert result.exit_code == 0, result.output
    assert "3 runs" in result.output
    assert "2 workers" in result.output
    assert "MB of disk" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["mini.yaml"]
    result = run("study", "run", file, "--dry-run", "--json")
    facts = json.loads(result.stdout)
    assert facts["n_runs"] == len(facts["runs"]) == 3
    assert facts["seconds"] > 0


def test_the_duration_on_ray_is_estimated_from_the_workers_of_the_cluster(
    file, monkeypatch
):
    pytest.importorskip("ray")
    from unbraid.execution import RayExecutor
    from unbraid.studies import Estimate, _estimate

    monkeypatch.setattr(
        _estimate, "measure_run", lambda spec: _estimate.Cost(0.0, 60.0, 1000)
    )
    monkeypatch.setattr(RayExecutor, "n_workers", property(lambda self: 40))
    arguments = "study", "run", file, "--executor", "ray", "--dry-run"
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "with 40 workers" in result.output
    # Three runs of one minute, all at once.
    assert json.loads(run(*arguments, "--json").stdout)["seconds"] == 60.0
    local = run("study", "run", file, "--dry-run", "--json", "--workers", 2)
    assert json.loads(local.stdout)["seconds"] == 120.0
    assert Estimate(seconds=0.0, n_bytes=0, n_runs=0).on(2) == 0.0


def test_run_status_retry_and_table(tmp_path, file, monkeypatch):
    result = run("study", "run", file, "--workers", 1)
    assert result.exit_code == 1, result.output
    assert "2 runs done, 1 failed" in result.output
    assert "study retry" in result.output
    out = tmp_path / "mini"
    result = run("study", "status", out)
    assert "miniature: 3 runs, 2 done, 1 failed" in result.output
    assert "finite" in result.output
    status = json.loads(run("study", "status", out, "--json").stdout)
    assert status["counts"]["done"] == 2
    assert run("study", "table", out, "-o", tmp_path / "t.csv").exit_code == 0
    assert len(pd.read_csv(tmp_path / "t.csv")) == 3
    assert len(json.loads(run("study", "table", out, "--json").stdout)) == 3
    # One start of a worker, above, is enough.
    monkeypatch.setattr(ExecutorOptions, "make", lambda self: InlineExecutor())
    result = run("study", "retry", out, "--failed", "--workers", 1)
    assert result.exit_code == 1
    assert "1 failed runs are tried again" in result.output


@pytest.mark.usefixtures("in_this_process")
def test_a_folder_stands_for_its_study(folder):
    result = run("study", "run", folder, "--workers", 1, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "done": 2,
        "failed": 1,
        "left": 0,
        "reason": "",
    }


def test_pruning_says_what_it_did(folder):
    result = run("study", "prune", folder)
    assert "2 files and 0 runs deleted" in result.output
    assert json.loads(run("study", "prune", folder, "--json").stdout)["n_files"] == 0


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("run", "no.yaml"), 1, "There is no study 'no.yaml'"),
        (("status", "."), 1, "no study.yaml"),
        (("table", "."), 1, "no study.yaml"),
        (("prune", ".", "--disk", "many"), 2, "is not a size"),
        (("preset", "dlib-2091"), 2, "dlib-2019"),
        (("run", "{file}", "--address", "x"), 2, "--executor ray"),
        (("run", "{file}", "--workers", "0"), 2, "equal to 1"),
        (("run", "{file}", "--disk", "-3"), 2, "is not a size"),
    ],
)
def test_wrong_arguments_get_a_sentence(
    file, tmp_path, monkeypatch, arguments, code, said
):
    monkeypatch.chdir(tmp_path)
    result = run("study", *(argument.format(file=file) for argument in arguments))
    if code == 1:  # main() makes one line of what is a ValueError or an OSError
        assert isinstance(result.exception, OSError)
        assert said in str(result.exception)
        return
    assert result.exit_code == code, result.output
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_misspelt_key_is_named_with_the_nearest(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text("data: xy_squares\nmethods: {beta_vae: {betta: [1]}}")
    result = run("study", "run", path)
    assert isinstance(result.exception, ValueError)
    assert "Did you mean 'beta'" in str(result.exception)


def test_presets_are_listed_and_printed_as_study_files(tmp_path):
    result = run("study", "preset")
    assert "dlib-2019" in result.output
    path = tmp_path / "preset.yaml"
    path.write_text(run("study", "preset", "dlib-2019").stdout)
    from unbraid.studies import read_study

    assert len(read_study(path).runs()) >= 36


def test_ctrl_c_saves_exits_and_says_how_to_go_on(tmp_path):
    path = tmp_path / "long.yaml"
    training = MINIATURE["training"] | {"steps": 10**6}
    path.write_text(write_yaml(MINIATURE | {"training": training, "seeds": 2}))
    command = [sys.executable, "-m", "unbraid", "study", "run", str(path)]
    process = subprocess.Popen(
        [*command, "--workers", "1"], stderr=subprocess.PIPE, text=True
    )
    state = None
    deadline = time.monotonic() + 60
    while not state and time.monotonic() < deadline:
        state = list(tmp_path.glob("long/runs/*/state.safetensors"))
        time.sleep(0.1)
    assert state
    os.kill(process.pid, signal.SIGINT)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "2 runs left. Resume with: unbraid study run" in said
    status = json.loads(run("study", "status", tmp_path / "long", "--json").stdout)
    assert status["counts"] == {
        "done": 0,
        "running": 0,
        "failed": 0,
        "begun": 1,
        "waiting": 1,
    }
    words = json.loads((state[0].parent / "status.json").read_text())
    assert words["status"] == "interrupted"
    assert words["step"] > 0


def test_the_whole_of_a_plain_study_is_said_line_by_line_in_a_pipe(tmp_path):
    from rich.console import Console

    from unbraid.cli._study_view import StudyView

    console = Console(file=(tmp_path / "said").open("w"), force_terminal=False)
    view = StudyView(console)
    study = study_from_plain(MINIATURE | {"seeds": 2})
    run_study(study, tmp_path / "study", executor=InlineExecutor(), observer=view)
    view.close()
    console.file.close()
    lines = (tmp_path / "said").read_text().splitlines()
    assert lines[0] == "2 runs, 0 done before, 1 workers"
    assert lines[-1].endswith("done (2 of 2)")
    assert (view.n_done, view.n_failed) == (2, 0)


def test_the_live_view_shows_runs_failures_and_how_many_are_left(tmp_path):
    from rich.console import Console

    from unbraid.cli._study_view import StudyView
    from unbraid.execution import Event, Job, Outcome

    path = tmp_path / "screen"
    with path.open("w") as file:
        console = Console(file=file, force_terminal=True, width=100)
        view = StudyView(console)
        view.begin(n_runs=3, n_done=1, n_workers=2)
        jobs = [
            Job(id=name, kind="unbraid.studies:do_run", folder="", steps=20)
            for name in ("first", "second")
        ]
        view.notify(Event("begun", jobs[0]))
        view.notify(Event("progress", jobs[0], None, 10, 500.0))
        view.notify(Event("ended", jobs[1], Outcome("second", "failed", "no [luck]")))
        view.close()
    screen = path.read_text()
    assert "2 of 3 runs" in screen
    assert "10 of 20 steps" in screen
    assert "500 images per second" in screen
    assert "no [luck]" in re.sub(r"\x1b\[[0-9;]*m", "", screen)
