"""``unbraid encode``: pictures in, a table of codes out."""

import json
import os

import numpy as np
import pandas as pd
import pytest
from command_line import app
from PIL import Image
from typer.testing import CliRunner

import unbraid
from unbraid.data import ImageFolder


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A folder of pictures, some of them in a second folder, and a trained model."""
    home = tmp_path_factory.mktemp("encode")
    generator = np.random.default_rng(0)
    for folder in ("pictures", "new"):
        (home / folder).mkdir()
    for number in range(40):
        pixels = np.zeros((20, 30, 3), np.uint8)
        x, y = generator.integers(0, 20), generator.integers(0, 10)
        pixels[y : y + 8, x : x + 8] = generator.integers(100, 255)
        Image.fromarray(pixels).save(home / "pictures" / f"{number:02}.png")
        if number < 4:
            Image.fromarray(pixels).save(home / "new" / f"{number:02}.png")
    data = ImageFolder(
        home / "pictures", image_size=8, channels=1, crop="pad", background=0
    )
    unbraid.fit("beta_vae", data, steps=20, n_latents=3, out=home / "run")
    return home, data


def call(*arguments):
    return CliRunner().invoke(app, ["encode", *map(os.fspath, arguments)])


def test_a_model_cuts_new_pictures_as_it_learned(story, tmp_path):
    home, data = story
    out = tmp_path / "codes.csv"
    answer = call(home / "run", home / "new", "-o", out)
    assert answer.exit_code == 0, answer.output
    table = pd.read_csv(out)
    expected = unbraid.encode(unbraid.load(home / "run"), data, rows=range(4)).codes
    assert list(table["file"]) == ["00.png", "01.png", "02.png", "03.png"]
    assert list(table)[1:] == ["latent_0", "latent_1", "latent_2"]
    np.testing.assert_allclose(table.iloc[:, 1:], expected, rtol=1e-5, atol=1e-6)


def test_encode_takes_the_folder_in_its_default_size(story):
    home, data = story
    model = unbraid.load(home / "run")
    assert model.framing == data.framing
    plain = unbraid.encode(model, home / "pictures").codes
    large = unbraid.encode(model, ImageFolder(home / "pictures")).codes
    assert np.array_equal(plain, unbraid.encode(model, data).codes)
    assert np.array_equal(plain, large)


def test_arrays_parquet_and_variances(story, tmp_path):
    home, _ = story
    arrays = np.random.default_rng(0).integers(0, 256, (5, 16, 16, 3), dtype=np.uint8)
    np.save(tmp_path / "images.npy", arrays)
    for name in ("codes.npy", "codes.parquet"):
        answer = call(
            home / "run", tmp_path / "images.npy", "-o", tmp_path / name, "--json"
        )
        assert json.loads(answer.output)["rows"] == 5, answer.output
    table = pd.read_parquet(tmp_path / "codes.parquet")
    assert list(table["row"]) == [0, 1, 2, 3, 4]
    codes = np.load(tmp_path / "codes.npy")
    assert np.array_equal(table.iloc[:, 1:].to_numpy(), codes)
    out = tmp_path / "more.csv"
    call(home / "run", tmp_path / "images.npy", "-o", out, "--variances")
    assert [name for name in pd.read_csv(out) if "variance" in name] == [
        "log_variance_0",
        "log_variance_1",
        "log_variance_2",
    ]


def test_a_file_that_exists_is_kept(story, tmp_path):
    home, _ = story
    out = tmp_path / "codes.csv"
    out.write_text("mine")
    answer = call(home / "run", home / "new", "-o", out)
    assert answer.exit_code != 0
    assert out.read_text() == "mine"
    assert call(home / "run", home / "new", "-o", out, "--overwrite").exit_code == 0
    assert out.read_text().startswith("file,")


@pytest.mark.parametrize(
    "arguments",
    [
        ("-o", "codes.txt"),
        ("-o", "missing/codes.csv"),
        ("-o", "codes.npy", "--variances"),
        ("-o", "codes.npy", "--device", "cuda"),
    ],
)
def test_wrong_usage(story, arguments, tmp_path, monkeypatch):
    home, _ = story
    monkeypatch.chdir(tmp_path)
    assert call(home / "run", home / "new", *arguments).exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", ["", ":image_size=32", ":label_folders=false"])
def test_other_commands_take_pictures_of_any_size_too(story, options, tmp_path):
    home, data = story
    pictures = f"{home / 'pictures'}{options}"
    scores, page = tmp_path / "scores.json", tmp_path / "explorer.html"
    scored = CliRunner().invoke(
        app,
        ["evaluate", str(home / "run"), "--data", pictures, "--metrics", "active_units"]
        + ["--no-intervals", "--no-levels", "--json", str(scores)],
    )
    assert scored.exit_code == 0, scored.output
    codes = unbraid.encode(unbraid.load(home / "run"), data)
    expected = unbraid.evaluate(codes, metrics="active_units", intervals=False)
    found = json.loads(scores.read_text())["scores"]["active_units"]["value"]
    assert found == float(expected["active_units"])
    explored = CliRunner().invoke(
        app, ["explore", str(home / "run"), "--data", pictures, "-o", str(page)]
    )
    assert explored.exit_code == 0, explored.output
    assert page.stat().st_size > 10_000
