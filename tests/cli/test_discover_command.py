"""Claims about ``unbraid discover`` and ``unbraid demo`` as users call them."""

import json

import numpy as np
import pytest
from command_line import app
from PIL import Image
from small_discovery import SQUARES, lamps, plan_small
from typer.testing import CliRunner
from whole_command import run_whole

from unbraid.cli import _demo
from unbraid.cli.commands import ExecutorOptions
from unbraid.execution import InlineExecutor
from unbraid.foundation import parse_duration


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def in_this_process(monkeypatch):
    """Commands train without the seconds that workers take to start."""
    monkeypatch.setattr(ExecutorOptions, "make", lambda self: InlineExecutor())


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def complaint(*arguments):
    """What a command that fails says on stderr."""
    done = run_whole("discover", *arguments)
    assert done.returncode in (1, 2), done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_help_has_an_example():
    assert "Example: unbraid discover pictures" in run("discover", "--help").output
    assert "Example: unbraid demo" in run("demo", "--help").output


@pytest.mark.usefixtures("in_this_process")
def test_the_demo_draws_the_data_and_discovers_in_some(tmp_path, monkeypatch):
    np.save(tmp_path / "lamps.npy", lamps().images(np.arange(216)))
    data = f"{tmp_path / 'lamps.npy'}:channels_first=true"
    monkeypatch.setattr(_demo, "DATA", data)
    out = tmp_path / "deep" / "demo"
    seconds = parse_duration(_demo.BUDGET)
    plan_small(out / "found", data, betas=(1,), steps=800, asked=seconds)
    result = run("demo", "--out", out)
    assert result.exit_code == 0, result.output
    with Image.open(out / "datasets.png") as picture:
        assert min(picture.size) > 300
    assert "Tried: 1 configurations with 3 seeds" in result.output
    assert (out / "found" / "summary.txt").read_text() in result.output
    assert f"Report: {out / 'found' / 'report.html'}" in result.output


@pytest.mark.usefixtures("in_this_process")
def test_a_refusal_is_a_sentence_and_an_exit_code(tmp_path):
    plan_small(tmp_path, betas=(1_000,), steps=20, seeds=2)
    result = run("discover", SQUARES, "--out", tmp_path, "--workers", 1, "--json")
    assert result.exit_code == 3
    assert "No model is better than chance" in result.stderr
    assert json.loads(result.stdout)["ranking"]["chosen"] is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no_such_thing", "--out", "{}/o"), "There is no dataset, folder or file"),
        (("{}/three", "--out", "{}/o"), "at least 32 different images"),
        (("{}/same", "--out", "{}/o"), "got 1 different among 40"),
        ((SQUARES, "--out", "{}/o", "--budget", "0m"), "is not a duration"),
        ((SQUARES, "--out", "{}/o", "--budget", "1s"), "needs a budget of at least"),
        ((SQUARES, "--out", "/proc/nowhere"), "cannot be written to"),
        ((SQUARES, "--out", "{}/o", "--labels", "{}/none.csv"), "none.csv"),
        ((SQUARES,), "--out"),
    ],
)
def test_bad_usage_is_a_sentence(tmp_path, arguments, words):
    for name, n_different in (("three", 3), ("same", 1)):
        (tmp_path / name).mkdir()
        for number in range(3 if name == "three" else 40):
            pixels = np.full((8, 8), number % n_different * 50, np.uint8)
            Image.fromarray(pixels).save(tmp_path / name / f"{number}.png")
    found = complaint(*(part.format(tmp_path) for part in arguments))
    assert words in found
