"""An objective in a file of the user is trained without being installed."""

import json

import pandas as pd
import pytest
from whole_command import run_whole

import unbraid
from unbraid.models.objectives import OBJECTIVES

OBJECTIVE = """
from dataclasses import dataclass

from unbraid.models.objectives import BetaVAE


@dataclass(frozen=True, kw_only=True)
class LogVAE(BetaVAE):
    extra: float = 0.5


number = 3
"""
DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"
SMALL = ("--steps", "20", "--latents", "2", "--batch-size", "8")


@pytest.fixture(autouse=True)
def _forget_files(monkeypatch):
    """Other tests list all objectives."""
    monkeypatch.setattr(OBJECTIVES, "_from_files", {})


@pytest.fixture
def mine(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(OBJECTIVE)
    return path


def test_the_command_line_trains_it_and_the_run_can_be_loaded_elsewhere(
    mine, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = run_whole(
        *("train", DATA, "--objective", "mine.py:LogVAE", "--set", "beta=2"),
        *(*SMALL, "--out", "run"),
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir("/")
    model = unbraid.load(tmp_path / "run")
    assert unbraid.encode(model, DATA, progress=False).codes.shape == (64, 2)
    written = json.loads((tmp_path / "run" / "spec.json").read_text())
    written = written["spec"]
    assert written["objective"]["name"] == f"{mine}:LogVAE"
    assert written["objective"]["extra"] == 0.5


def test_python_and_a_study_train_it(mine, tmp_path):
    run = unbraid.fit(
        f"{mine}:LogVAE", DATA, steps=20, n_latents=2, batch_size=8, progress=False
    )
    assert type(run.spec.objective).__name__ == "LogVAE"
    study = tmp_path / "study.yaml"
    study.write_text(
        f"data: {DATA!r}\nobjective: {{name: {mine}:LogVAE, beta: 3}}\nseeds: 2\n"
        "training: {steps: 20, n_latents: 2, batch_size: 8}\n"
        "evaluation: {metrics: [mig], rows: 64}\n"
    )
    out = tmp_path / "out"
    done = run_whole("study", "run", str(study), "--out", str(out))
    assert done.returncode == 0, done.stderr
    table = pd.read_csv(out / "table.csv")
    assert table["objective.name"].tolist() == 2 * [f"{mine}:LogVAE"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("{}/none.py:LogVAE", "There is no file"),
        ("{}/mine.py:Other", "does not define Other"),
        ("{}/mine.py:number", "is not a subclass of AbstractObjective"),
        ("{}/broken.py:LogVAE", "cannot be imported: ZeroDivisionError"),
        ("{}/exits.py:LogVAE", "cannot be imported: SystemExit"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_the_reason(
    mine, tmp_path, name, message
):
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "exits.py").write_text("raise SystemExit(3)")
    with pytest.raises(ValueError, match=message):
        OBJECTIVES[name.format(tmp_path)]


def test_wrong_usage_on_the_command_line_is_a_sentence(tmp_path):
    name = f"{tmp_path / 'none.py'}:LogVAE"
    done = run_whole("train", DATA, "--objective", name, "--out", str(tmp_path / "x"))
    assert done.returncode == 2
    assert "There is no file" in done.stderr
    assert "Traceback" not in done.stderr


def test_two_files_of_the_same_name_are_two_objectives(mine, tmp_path):
    other = tmp_path / "deeper" / "mine.py"
    other.parent.mkdir()
    other.write_text(OBJECTIVE.replace("0.5", "0.75"))
    first, second = OBJECTIVES[f"{mine}:LogVAE"], OBJECTIVES[f"{other}:LogVAE"]
    assert (first().extra, second().extra) == (0.5, 0.75)
    assert {f"{mine}:LogVAE", f"{other}:LogVAE"} < set(OBJECTIVES)


def test_a_study_can_be_read_from_another_folder(mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        f"data: {DATA!r}\nobjective: {{name: 'mine.py:LogVAE', beta: 3}}\nseeds: 1\n"
        "training: {steps: 5, n_latents: 2, batch_size: 8}\n"
        "evaluation: {metrics: [mig], rows: 64}\n"
    )
    done = run_whole("study", "run", "s.yaml", "--out", "out")
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir("/")
    done = run_whole("study", "status", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr


def test_a_file_may_import_its_neighbors_and_its_errors_name_its_line(tmp_path):
    (tmp_path / "helper.py").write_text("WORD = 'boom'\n")
    (tmp_path / "body.py").write_text(
        "from helper import WORD\nfrom dataclasses import dataclass\n"
        "from unbraid.models.objectives import BetaVAE\n\n"
        "@dataclass(frozen=True, kw_only=True)\nclass A(BetaVAE):\n"
        "    def loss(self, model, batch, context):\n"
        "        raise RuntimeError(WORD)\n"
    )
    name, out = f"{tmp_path / 'body.py'}:A", str(tmp_path / "run")
    done = run_whole("train", DATA, "--objective", name, *SMALL, "--out", out)
    assert done.returncode == 1
    line = f"RuntimeError in {tmp_path / 'body.py'}, line 8: boom"
    assert line in done.stderr
    assert "fault of unbraid" not in done.stderr
