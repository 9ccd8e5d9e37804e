"""The data of a run are found again, whatever their options are."""

import json
import shutil

import numpy as np
import pytest
from PIL import Image
from whole_command import run_whole

from unbraid.data import (
    DataSpec,
    Discs,
    ImageFolder,
    LabeledImages,
    Subset,
    XYSquares,
    describe_source,
    open_dataset,
)
from unbraid.reports import find_training_data
from unbraid.training import fit

SMALL = {"network": "dense", "steps": 2, "n_latents": 2, "batch_size": 8}
TEXT = "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"


def squares():
    return XYSquares(image_size=8, square_size=1, n_squares=1, rgb=False)


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pictures").mkdir()
    noise = np.random.default_rng(0).integers(0, 256, (40, 8, 8), dtype=np.uint8)
    for number, pixels in enumerate(noise):
        Image.fromarray(pixels).save(tmp_path / "pictures" / f"{number:02}.png")
    return tmp_path / "pictures"


@pytest.mark.parametrize(
    "dataset", [squares(), Discs(), Discs(image_size=16), XYSquares(spacing=4)]
)
def test_a_built_in_dataset_is_described_by_its_name_and_options(dataset):
    text = describe_source(dataset)
    assert open_dataset(text) == dataset
    assert describe_source(text) == text


def test_paths_become_whole(pictures):
    assert describe_source("pictures:channels=1") == f"{pictures}:channels=1"
    assert describe_source(DataSpec.parse("pictures")) == str(pictures)
    text = describe_source(ImageFolder("pictures", image_size=(8, 4), channels=1))
    assert open_dataset(text).image_shape == (1, 8, 4)
    np.save("a.npy", np.zeros((4, 8, 8), np.uint8))
    (pictures.parent / "v.csv").write_text("x\n0\n1\n2\n3\n")
    text = describe_source("a.npy:factors=v.csv+noise:p=0.5")
    assert (
        text == f"{pictures.parent}/a.npy:factors={pictures.parent}/v.csv+noise:p=0.5"
    )


def test_arrays_and_views_in_memory_have_no_description():
    images = np.zeros((4, 8, 8), np.uint8)
    for data in (images, LabeledImages(images), Subset(squares(), [0, 1])):
        assert describe_source(data) == ""


@pytest.mark.parametrize("data", [TEXT, squares(), f"{TEXT}+labels:n=20"])
def test_commands_find_the_data_of_a_run(data, tmp_path, monkeypatch):
    run = fit("vae", data, out=tmp_path / "run", progress=False, **SMALL)
    monkeypatch.chdir(tmp_path)
    found = find_training_data(run.folder)
    about = json.loads((tmp_path / "run" / "spec.json").read_text())["data"]
    assert found.fingerprint() == about["fingerprint"]
    done = run_whole("evaluate", "run", "--metrics", "mig", "--no-intervals")
    assert done.returncode == 0, done.stderr
    assert "mig" in done.stdout
    done = run_whole("explore", "run", "--examples", "2", "--json")
    assert json.loads(done.stdout)["data"] == found.name


def test_the_command_line_keeps_the_options_of_a_folder(pictures, monkeypatch):
    data = "pictures:image_size=8,channels=1"
    small = ("--steps", "2", "--latents", "2", "--batch-size", "8")
    done = run_whole("train", data, "--objective", "vae", *small, "--out", "run")
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir("/")
    folder = pictures.parent / "run"
    assert find_training_data(folder).image_shape == (1, 8, 8)
    done = run_whole("evaluate", str(folder), "--metrics", "active_units")
    assert done.returncode == 0, done.stderr
    (pictures / "00.png").unlink()
    assert find_training_data(folder) is None  # they have changed
    done = run_whole("evaluate", str(folder))
    assert done.returncode == 2
    assert "does not lead to them" in done.stderr
    shutil.rmtree(pictures)
    assert find_training_data(folder) is None


def test_options_of_a_named_objective_are_taken():
    run = fit("beta_vae", squares(), options={"beta": 7.0}, progress=False, **SMALL)
    assert run.spec.objective.beta == 7.0
    with pytest.raises(ValueError, match="fit takes options only with the name"):
        fit(run.spec.objective, squares(), options={"beta": 7.0}, **SMALL)
    with pytest.raises((TypeError, ValueError), match="bet"):
        fit("beta_vae", squares(), options={"bet": 7.0}, **SMALL)
