import hashlib
import io
import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pytest
from command_line import app
from PIL import Image
from typer.testing import CliRunner
from whole_command import run_whole

import unbraid.cli._app as cli_app
from unbraid.data import TinyImageNet


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_version_is_that_of_the_package():
    assert run("--version").output == f"unbraid {version('unbraid')}\n"


def test_help_names_the_commands_and_gives_examples():
    assert "data" in run("--help").output
    for command in ("list", "info", "fetch", "check", "distances", "learn-loss"):
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
    done = run_whole("data", command, "shapes3d")
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
    done = run_whole("data", "check", str(folder))
    assert done.returncode == 1
    assert "broken.png" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_goes_away_gets_no_traceback():
    program = "from unbraid.cli import main; main()"
    shell = f'{sys.executable} -c "{program}" data list | true'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


@pytest.fixture
def tiny_imagenet(tmp_path):
    folder = tmp_path / "elsewhere" / "tiny_imagenet"
    folder.mkdir(parents=True)
    picture = io.BytesIO()
    Image.new("RGB", (64, 64)).save(picture, "JPEG")
    with zipfile.ZipFile(folder / "tiny-imagenet-200.zip", "w") as archive:
        name = "tiny-imagenet-200/train/n1/images/n1_0.JPEG"
        archive.writestr(name, picture.getvalue())
    return folder.parent


@pytest.mark.parametrize("form", ["option", "argument"])
@pytest.mark.parametrize("is_right", [True, False])
def test_fetch_checks_what_is_in_the_root_it_is_given(
    tiny_imagenet, form, is_right, monkeypatch
):
    path = tiny_imagenet / "tiny_imagenet" / "tiny-imagenet-200.zip"
    content = path.read_bytes()
    if is_right:
        checksum = f"md5:{hashlib.md5(content).hexdigest()}"
        file = replace(TinyImageNet.files[0], size=len(content), checksum=checksum)
        monkeypatch.setattr(TinyImageNet, "files", (file,))
    if form == "option":
        result = run("data", "fetch", f"tiny_imagenet:root={tiny_imagenet}")
    else:
        result = run("data", "fetch", "tiny_imagenet", "--root", tiny_imagenet)
    assert result.exit_code == (0 if is_right else 1)
    if is_right:
        assert "tiny-imagenet-200.zip: here" in result.output
    else:
        assert "tiny-imagenet-200.zip: the size must be" in str(result.exception)
    assert path.read_bytes() == content


def test_check_fails_a_published_file_with_the_wrong_checksum(tiny_imagenet):
    done = run_whole("data", "check", f"tiny_imagenet:root={tiny_imagenet}")
    assert done.returncode == 1
    assert "the size must be" in done.stderr


def test_check_notices_a_damaged_cache(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    Image.new("RGB", (9, 9), "red").save(folder / "good.png")
    assert run("data", "check", folder).exit_code == 0
    (pixels,) = (tmp_path / "cache").rglob("*.npy")
    content = pixels.read_bytes()
    pixels.write_bytes(content[:-10] + bytes(10))
    done = run_whole("data", "check", str(folder))
    assert done.returncode == 1
    assert str(pixels) in done.stderr


def test_a_fault_of_our_own_is_one_sentence_too(monkeypatch, capsys):
    def broken(**_):
        raise KeyError("surprise")

    monkeypatch.setattr(cli_app, "app", broken)
    with pytest.raises(SystemExit) as ended:
        cli_app.run()
    assert ended.value.code == 1
    assert "fault of unbraid" in capsys.readouterr().err
    monkeypatch.setenv("UNBRAID_TRACEBACK", "1")
    with pytest.raises(KeyError):
        cli_app.run()


def test_demo_into_a_place_that_is_a_file_says_so(tmp_path):
    (tmp_path / "taken").write_text("")
    done = run_whole("demo", "--out", str(tmp_path / "taken"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "taken" in done.stderr


def test_distances_prints_a_row_per_factor_and_one_of_random_pairs():
    squares = "xy_squares:image_size=8,square_size=1"
    result = run("data", "distances", squares, "--pairs", 2000, "--json")
    assert result.exit_code == 0
    rows = json.loads(result.output)
    assert [row["factor"] for row in rows] == [
        *("x_R", "y_R", "x_G", "y_G", "x_B", "y_B"),
        "random",
    ]
    assert list(rows[0]) == ["factor", "mean", "std", "linear", "rank"]
    assert rows[0]["mean"] == pytest.approx(0.0104, abs=5e-5)
    assert rows[0]["rank"] == pytest.approx(0.58, abs=0.02)
    assert rows[-1]["mean"] == pytest.approx(0.0308, abs=2e-4)


def test_distances_draws_into_a_folder_and_says_what_to_expect(tmp_path):
    out = tmp_path / "drawn"
    squares = "xy_squares:image_size=8,square_size=2,n_squares=1"
    plain = run("data", "distances", squares, "--pairs", 500, "--out", out)
    assert plain.exit_code == 0
    assert "try a kernel-augmented loss, or supervision" in plain.output
    pictures = sorted(path.name for path in out.iterdir())
    assert pictures == ["cumulative.png", "matrices.png"]
    for path in out.iterdir():
        with Image.open(path) as picture:
            assert picture.size[0] > 200
    box = run("data", "distances", squares, "--loss=mse-box", "--pairs=500", "-o", out)
    assert "likely: learned among the first" in box.output


def test_distances_of_unlabelled_pictures_are_random_ones(tmp_path):
    images = np.arange(4 * 3 * 8 * 8, dtype=np.uint8).reshape(4, 8, 8, 3)
    np.save(tmp_path / "images.npy", images)
    name = tmp_path / "images.npy"
    out = tmp_path / "drawn"
    result = run("data", "distances", name, "--pairs=50", "--json", "-o", out)
    (row,) = json.loads(result.output)
    assert row["factor"] == "random"
    assert row["rank"] is None
    assert [path.name for path in out.iterdir()] == ["cumulative.png"]


def test_distances_through_a_learnt_loss(tmp_path):
    from unbraid.models import KernelAugmented, save_likelihood

    path = tmp_path / "loss.json"
    save_likelihood(KernelAugmented(radius=3), path)
    squares = "xy_squares:image_size=8,square_size=1,n_squares=1"
    rows = [
        json.loads(
            run(
                "data", "distances", squares, "--loss", loss, "--pairs=99", "--json"
            ).output
        )
        for loss in (path, "mse-box")
    ]
    assert rows[0] == rows[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--loss", "msd"], "loss must be one of mse"),
        (["--pairs", "1"], "--pairs"),
        (["--subset", "1"], "--subset"),
        (["--out", __file__], "is a file, not a folder"),
    ],
)
def test_distances_refuses_what_makes_no_sense(arguments, words):
    result = run("data", "distances", "xy_squares:n_squares=1", *arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.output.replace("\u2502", " ").split())


def test_distances_through_a_file_that_is_none_is_one_sentence(tmp_path):
    (tmp_path / "broken.json").write_text("{}")
    for name, words in (
        ("missing.json", "No such file"),
        ("broken.json", "is not a likelihood"),
    ):
        loss = str(tmp_path / name)
        done = run_whole("data", "distances", "xy_squares", "--loss", loss)
        assert done.returncode == 1
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_info_says_what_a_vae_will_make_of_each_factor():
    result = run("data", "info", "xy_squares:n_squares=1")
    assert "any two values are equally far apart" in result.output
    facts = json.loads(run("data", "info", "xy_squares:n_squares=1", "--json").output)
    assert facts["verdicts"][0]["factor"] == "x_R"
    assert facts["verdicts"][0]["expectation"] == "no"
