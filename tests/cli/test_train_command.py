import json
import os
import signal
import subprocess
import sys
import time

import pytest
from command_line import app
from PIL import Image
from typer.testing import CliRunner
from whole_command import run_whole

import unbraid
from unbraid.models import Decay
from unbraid.training import Trace

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"
SMALL = ("--steps", 20, "--latents", 3, "--batch-size", 8, "--device", "cpu")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_model_is_trained_and_can_be_scored(tmp_path):
    out = tmp_path / "run"
    result = run("train", DATA, "--set", "beta=2.5", *SMALL, "--out", out)
    assert result.exit_code == 0, result.output
    assert "20 steps, loss" in result.output
    assert str(out) in result.output
    spec = unbraid.Run.load(out).spec
    assert (spec.objective.beta, spec.n_latents, spec.batch_size) == (2.5, 3, 8)
    scores = tmp_path / "scores.json"
    result = run(
        "evaluate", out, "--data", DATA, "--metrics", "mig", "--json", scores,
        "--no-intervals", "--no-levels",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "64 rows, 3 latents, 2 factors" in result.output
    assert json.loads(scores.read_text())["factor_names"] == ["x_R", "y_R"]


def test_all_snapshots_of_a_trace_are_recorded(tmp_path):
    small = (*SMALL[2:], "--steps", 150)
    result = run("train", DATA, *small, "--traces", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    expected = [0, 17, 33, 50, 67, 83, 100, 117, 133, 150]
    assert Trace.load(tmp_path).steps.tolist() == expected


def test_the_model_is_scored_during_training(tmp_path):
    command = ("train", DATA, *SMALL, "--out", tmp_path, "--score-every", 8)
    result = run(*command, "--metrics", "mig,mig:bins=5")
    assert result.exit_code == 0, result.output
    curves = unbraid.Run.load(tmp_path).score_curves
    assert curves["mig"].steps.tolist() == [8, 16, 20]
    curve = curves["mig[bins=5]"]
    said = f"mig[bins=5] {curve.last:.4f}, best {curve.best:.4f} at step"
    assert said in result.output
    again = json.loads(run(*command, "--metrics", "mig,mig:bins=5", "--json").stdout)
    assert [record["step"] for record in again["scores"]] == [8, 16, 20]
    for wrong in (("--score-every", 8, "--metrics", "mgi"), ("--metrics", "mig")):
        result = run("train", DATA, *SMALL, "--out", tmp_path / "other", *wrong)
        assert result.exit_code == 2, result.output
    assert not (tmp_path / "other").exists()


def test_the_same_command_again_has_nothing_to_do_and_json_says_how_it_went(tmp_path):
    command = ("train", DATA, *SMALL, "--out", tmp_path, "--json")
    first, second = (run(*command) for _ in range(2))
    assert json.loads(first.stdout) == json.loads(second.stdout)
    assert json.loads(first.stdout)["last"]["step"] == 20


def test_a_finished_run_without_its_history_is_reported(tmp_path):
    command = ("train", DATA, *SMALL, "--out", tmp_path)
    assert run(*command).exit_code == 0
    (tmp_path / "history.jsonl").unlink()
    for more in ((), ("--json",)):
        result = run(*command, *more)
        assert result.exit_code == 0, result.output
        assert "history.jsonl is missing or damaged" in result.stderr
    assert json.loads(result.stdout)["last"] == {}


def test_hyperparameters_may_be_schedules_and_small_numbers(tmp_path):
    text = "beta={name: linear, start: 5e-1, end: 4}"
    result = run("train", DATA, "--set", text, *SMALL, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    assert unbraid.Run.load(tmp_path).spec.objective.beta.at(10) == 2.25
    result = run("train", DATA, "--set", "beta=1e-3", *SMALL, "-o", tmp_path / "b")
    assert unbraid.Run.load(tmp_path / "b").spec.objective.beta == 1e-3


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--objective", "beta_vea"), "--objective"),
        (("--objective", "beta_vea", "--set", "beta=1"), "--objective"),
        (("--objective", "beta_vea"), "beta_vae"),
        (("--set", "beta=-1"), "value for --set"),
        (("--set", "betta=4"), "value for --set"),
        (("--out", ""), "--out"),
        (("--set", "betta=4"), "'beta'"),
        (("--set", "beta"), "NAME=VALUE"),
        (("--set", "beta=-1"), "beta must be at least 0, got -1"),
        (("--set", "beta=[1"), "YAML"),
        (("--set", "beta=much"), "'much'"),
        (("--set", "beta={name: linea}"), "'linear'"),
        (("--network", "huge"), "huge"),
        (("--likelihood", "poisson"), "poisson"),
        (("--logger", "visdom"), "visdom"),
        (("--device", "abacus"), "abacus"),
        (("--steps", "0"), "--steps"),
    ],
)
def test_wrong_usage_is_said_and_writes_nothing(tmp_path, options, said):
    result = run("train", DATA, "--out", tmp_path / "run", *options)
    assert result.exit_code == 2
    assert said in result.output
    assert not (tmp_path / "run").exists()


def test_broken_pictures_are_said_with_what_helps_on_the_command_line(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    Image.new("RGB", (16, 16)).save(pictures / "whole.png")
    (pictures / "broken.png").write_bytes(b"no picture")
    out = ("--out", tmp_path / "run")
    result = run("train", pictures, *SMALL, *out)
    assert result.exit_code == 1
    assert "write DATA:on_error=skip" in str(result.exception)
    result = run("train", f"{pictures}:on_error=skip,image_size=8", *SMALL, *out)
    assert result.exit_code == 0, result.output


def test_a_logger_that_is_not_installed_is_said_with_what_helps(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "wandb", None)
    result = run("train", DATA, *SMALL, "--logger", "wandb", "--out", tmp_path)
    assert result.exit_code == 1
    assert "pip install 'unbraid[wandb]'" in result.output


def test_a_folder_of_other_settings_is_an_error_of_one_sentence(tmp_path):
    command = ("train", DATA, *map(str, SMALL), "--out", str(tmp_path))
    assert run(*command).exit_code == 0
    done = run_whole(*command, "--seed", "1")
    assert done.returncode == 1
    assert done.stderr.startswith(f"unbraid: {tmp_path}: the folder belongs to a run")
    assert len(done.stderr.splitlines()) == 1


def start(*arguments):
    """In a process of its own, as a user does."""
    command = [sys.executable, "-c", "from unbraid.cli import main; main()", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def test_ctrl_c_prints_the_command_that_goes_on(tmp_path):
    command = ("train", DATA, "--steps", "1000000", "--out", str(tmp_path))
    process = start(*command)
    while not (tmp_path / "history.jsonl").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    time.sleep(0.5)
    os.kill(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert output == ""
    assert "interrupted at step" in errors
    assert "Resume with: unbraid train" in errors
    assert (tmp_path / "state.safetensors").is_file()


def test_help_gives_an_example():
    assert "Example: unbraid train xy_object" in run("train", "--help").output
    assert "Example: unbraid evaluate run --data" in run("evaluate", "-h").output


@pytest.mark.parametrize(
    "arguments",
    [(), ("--data", DATA), ("run", "--data", DATA, "--codes", "z.npy")],
)
def test_evaluate_wants_a_model_or_codes(arguments):
    result = run("evaluate", *arguments)
    assert result.exit_code == 2
    assert "Give" in result.output


def test_evaluate_names_a_folder_without_a_model(tmp_path):
    result = run("evaluate", tmp_path / "run")
    assert result.exit_code == 1
    assert f"{tmp_path / 'run'}: there is no model.json" in str(result.exception)


def test_a_model_of_other_images_is_refused(tmp_path):
    assert run("train", DATA, *SMALL, "--out", tmp_path).exit_code == 0
    result = run("evaluate", tmp_path, "--data", "xy_squares")
    assert result.exit_code == 1
    assert "the model takes images of shape" in str(result.exception)


def test_the_learning_rate_may_fall_at_the_end(tmp_path):
    options = ("--learning-rate", 0.002, "--decay", 0.25)
    result = run("train", DATA, *SMALL, *options, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    rate = unbraid.Run.load(tmp_path).spec.learning_rate
    assert rate == Decay(value=0.002, share=0.25, steps=20)
    assert run("train", DATA, *SMALL, "--decay", 2, "--out", tmp_path).exit_code == 2
