import json
import subprocess
import sys
from importlib.metadata import version

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from unbraid.cli._app import app


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def run_outside(*arguments):
    """In a process of its own, as a user does."""
    command = [sys.executable, "-c", "from unbraid.cli import main; main()", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_version_is_that_of_the_package():
    assert run("--version").output == f"unbraid {version('unbraid')}\n"


def test_help_names_the_commands_and_gives_examples():
    assert "data" in run("--help").output
    for command in ("list", "info", "fetch", "check"):
        assert f"Example: unbraid data {command}" in run("data", command, "-h").output


def test_list_names_every_dataset():
    from unbraid.data import PUBLISHED, RENDERED

    result = run("data", "list")
    assert result.exit_code == 0
    for name in RENDERED | PUBLISHED:
        assert name in result.output
    assert "unbraid data fetch shapes3d" in result.output
    rows = json.loads(run("data", "list", "--json").output)
    assert {row["name"] for row in rows} == set(RENDERED) | set(PUBLISHED)


def test_info_describes_a_dataset_with_options():
    facts = json.loads(run("data", "info", "xy_squares:n_squares=1", "--json").output)
    assert facts["n_images"] == 64
    assert facts["image_shape"] == [3, 64, 64]
    assert facts["factors"][0] == {"name": "x_R", "size": 8, "kind": "ordinal"}
    assert facts["mean"] == [0.015625, 0.0, 0.0]
    assert "8" in run("data", "info", "xy_squares:n_squares=1").output


def test_info_describes_arrays_with_continuous_labels(tmp_path):
    images = np.zeros((3, 8, 8, 1), dtype=np.uint8)
    np.savez(tmp_path / "a.npz", images=images, factors=[[0.5], [0.1], [0.2]])
    facts = json.loads(run("data", "info", tmp_path / "a.npz", "--json").output)
    assert facts["factors"] == [
        {"name": "factor_0", "size": None, "kind": "continuous"}
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("data", "info", "xy_square"),
        ("data", "info", "xy_squares:spacing=0"),
        ("data", "fetch", "xy_squares"),
        ("data", "fetch", "nonsense"),
        ("data", "info"),
        ("data", "nonsense"),
    ],
)
def test_wrong_usage_ends_with_2_and_no_traceback(arguments):
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize("command", ["info", "check"])
def test_a_missing_published_file_ends_with_1_and_says_what_to_do(command):
    done = run_outside("data", command, "shapes3d")
    assert done.returncode == 1
    assert "3dshapes.h5" in done.stderr
    assert "unbraid data fetch shapes3d" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_check_passes_what_is_right_and_names_a_broken_picture(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.new("RGB", (9, 9)).save(folder / "good.png")
    assert "no fault found" in run("data", "check", folder).output
    (folder / "broken.png").write_text("not a picture")
    done = run_outside("data", "check", str(folder))
    assert done.returncode == 1
    assert "broken.png" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_is_no_error():
    program = "from unbraid.cli import main; main()"
    shell = f'{sys.executable} -c "{program}" data list | head -1'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_demo_writes_its_picture(tmp_path):
    result = run("demo", "--out", tmp_path / "deep" / "demo")
    assert result.exit_code == 0
    with Image.open(tmp_path / "deep" / "demo" / "datasets.png") as picture:
        assert min(picture.size) > 500


def test_demo_into_a_place_that_is_a_file_says_so(tmp_path):
    (tmp_path / "taken").write_text("")
    done = run_outside("demo", "--out", str(tmp_path / "taken"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "taken" in done.stderr
