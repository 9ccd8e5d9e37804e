import json

import numpy as np
import pytest
from command_line import app
from typer.testing import CliRunner

from unbraid import fit
from unbraid.data import open_dataset
from unbraid.geometry import product_manifold, sphere

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("points")
    sample = product_manifold("S2xS1", 300, rotated=True)
    np.save(root / "product.npy", sample.points)
    np.save(root / "sphere.npy", sphere(200, 2).points)
    fit("vae", open_dataset(DATA), steps=2, n_latents=3, out=root / "run")
    return root


def run(*arguments):
    return CliRunner().invoke(app, ["factorize", *(str(a) for a in arguments)])


def test_a_product_is_found_and_its_spectrum_drawn(folder, tmp_path):
    picture, bases = tmp_path / "spectrum.png", tmp_path / "bases.npz"
    result = run(
        folder / "product.npy", "--dimension", 3, "-o", picture, "--bases", bases
    )
    assert result.exit_code == 0, result.output
    assert "a product of 2 factors, of dimensions 2 and 1" in result.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    # Said before the work, and not on the output.
    assert "300 points of 5 coordinates: about" in result.stderr
    assert "MB" in result.stderr
    with np.load(bases) as arrays:
        assert arrays["factor_1"].shape == (300, 5, 2)
        assert arrays["factor_2"].shape == (300, 5, 1)


def test_json_is_one_document(folder, tmp_path):
    picture = tmp_path / "spectrum.svg"
    result = run(folder / "sphere.npy", "--json", "--out", picture)
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["dimension"] == 2
    assert facts["is_product"] is False
    assert facts["factors"] == [{"dimension": 2, "is_flat": False}]
    assert facts["confidence"] == 0
    assert len(facts["spectrum"]) == 10
    assert picture.is_file()


def test_codes_of_a_model_are_factorized(folder, tmp_path):
    result = run(
        "--model", folder / "run", "--data", DATA, "-k", 2, "-o", tmp_path / "a.png"
    )
    assert result.exit_code == 0, result.output
    assert "Found:" in result.stdout
    assert "raw pixels" not in result.stderr


def test_raw_pixels_are_warned_about(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (60, 16, 16), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    result = run(tmp_path / "images.npy", "-k", 2, "-o", tmp_path / "a.png")
    assert result.exit_code == 0, result.output
    assert "these look like raw pixels" in result.stderr
    assert "no product structure found" in result.stdout


def test_repeated_images_of_a_dataset_are_left_out(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (40, 4, 4), dtype=np.uint8)
    np.savez(tmp_path / "data.npz", images=np.concatenate([images, images[:5]]))
    result = run("--data", tmp_path / "data.npz", "-k", 2, "-o", tmp_path / "a.png")
    assert result.exit_code == 0, result.output
    assert "5 of 45 images repeat others" in result.stderr
    assert "raw pixels" in result.stderr


def written(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        np.save(path, content)
    return path


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        (b"no array", (), "cannot be read"),
        (b"", (), "cannot be read"),
        (np.arange(5.0), (), "n_coordinates), got (5,)"),
        (np.float64(3), (), "n_coordinates), got ()"),
        (np.empty((0, 3)), (), "got shape (0, 3)"),
        (np.full((20, 3), np.nan), (), "points must be finite, but points[0, 0] is"),
        (np.array([["a", "b"]]), (), "points must be numeric, got dtype"),
        (np.ones((50, 3)), ("-k", 2), "repeat another point"),
        (np.ones((50, 3)), (), "some are repeated"),
        (np.eye(3), ("-k", 2), "more points than neighbors"),
        (np.eye(2), (), "more points than neighbors"),
        (sphere(50, 2).points, ("-k", 4), "dimension must be between 1 and 3, got 4"),
        (
            np.concatenate([sphere(50, 2).points, sphere(50, 2).points + 9]),
            ("-k", 2),
            "it has 2 pieces",
        ),
    ],
)
def test_bad_files_are_refused_in_one_sentence(tmp_path, content, options, said):
    path = written(tmp_path / "points.npy", content)
    picture = tmp_path / "a.png"
    result = run(path, *options, "-o", picture)
    # What the command raises, main prints as one sentence with exit code 1.
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError)
    assert said in str(result.exception)
    assert "\n" not in str(result.exception)
    assert not picture.exists()


def test_a_text_that_calls_itself_npy_is_not_to_be_loaded_unsafely(tmp_path):
    (tmp_path / "points.npy").write_text("hello world")
    result = run(tmp_path / "points.npy")
    assert result.exit_code == 1
    assert "cannot be read" in str(result.exception)
    assert "unsafe" not in str(result.exception)


def test_a_line_is_drawn_without_a_warning(tmp_path):
    np.save(tmp_path / "line.npy", np.outer(np.arange(30.0), np.ones(3)))
    result = run(tmp_path / "line.npy", "-o", tmp_path / "s.png")
    assert result.exit_code == 0, result.output
    assert "without holonomy" in result.stdout
    assert "gap" not in result.stdout


@pytest.mark.parametrize("options", [("-k", 1000), ("--neighbors", 100_000)])
def test_no_cost_is_said_of_what_is_refused(folder, options):
    result = run(folder / "sphere.npy", "-k", 2, *options)
    assert result.exit_code == 1
    assert "MB" not in result.stderr


def test_a_file_that_is_not_there_is_said(tmp_path):
    result = run(tmp_path / "none.npy", "-o", tmp_path / "a.png")
    assert isinstance(result.exception, FileNotFoundError)
    assert "POINTS" in str(result.exception)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("points.npy", "--data", DATA),
        ("points.npy", "--model", "run"),
        ("points.npy", "--out", "spectrum.txt"),
        ("points.npy", "--out", "nowhere/spectrum.png"),
        ("points.npy", "--bases", "bases.npy"),
        ("points.npy", "--dimension", "0"),
    ],
)
def test_wrong_usage_is_exit_code_2(arguments):
    assert run(*arguments).exit_code == 2


def test_help_has_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "Example: unbraid factorize points.npy" in result.stdout.replace("\n", " ")
