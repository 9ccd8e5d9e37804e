import json

import pytest
from command_line import app
from typer.testing import CliRunner

from unbraid import fit
from unbraid.data import XYSquares, open_dataset
from unbraid.training import save_model

DATA = "xy_squares:image_size=8,square_size=1,n_squares=1"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    for seed, name in enumerate(("one", "two")):
        data = open_dataset(DATA)
        fit("vae", data, steps=2, n_latents=3, seed=seed, out=root / name)
    return root


def run(*arguments):
    return CliRunner().invoke(app, ["explore", *(str(a) for a in arguments)])


def test_a_page_is_written_and_its_path_printed(folders, tmp_path):
    page = tmp_path / "explorer.html"
    result = run(folders / "one", "--data", DATA, "-o", page)
    assert result.exit_code == 0, result.output
    assert str(page) in result.output.replace("\n", "")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_machines_are_told_where_the_page_is(folders, tmp_path):
    page = tmp_path / "explorer.html"
    result = run(folders / "one", folders / "two", "--data", DATA, "-o", page, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == {
        "page": str(page),
        "bytes": page.stat().st_size,
        "models": [str(folders / "one"), str(folders / "two")],
        "data": "xy_squares",
    }


def test_two_models_are_called_by_what_differs_in_their_paths(folders, tmp_path):
    page = tmp_path / "explorer.html"
    result = run(folders / "one", folders / "two", "--data", DATA, "-o", page)
    assert result.exit_code == 0, result.output
    text = page.read_text(encoding="utf-8")
    assert '"name": "one"' in text
    assert '"name": "two"' in text


def test_names_are_read_from_the_file_that_the_page_saves(folders, tmp_path):
    names = tmp_path / "names.json"
    words = {"kind": "names of latents", "format": 1, "names": {"2": "across"}}
    names.write_text(json.dumps(words))
    page = tmp_path / "explorer.html"
    result = run(folders / "one", "--data", DATA, "-o", page, "--names", names)
    assert result.exit_code == 0, result.output
    assert '"name": "across"' in page.read_text(encoding="utf-8")


def test_data_that_were_an_array_must_be_given(tmp_path):
    data = open_dataset(DATA).images(range(64))
    fit("vae", data, steps=1, n_latents=2, network="dense", out=tmp_path / "run")
    result = run(tmp_path / "run", "-o", tmp_path / "explorer.html")
    assert result.exit_code == 2
    assert "--data" in result.output
    assert not (tmp_path / "explorer.html").exists()


def test_data_that_the_folder_leads_to_need_not_be_given(tmp_path):
    data = XYSquares(n_squares=1)
    spec = fit("vae", data, steps=1, n_latents=2, network="dense", out=tmp_path / "run")
    plain = XYSquares()
    fit("vae", plain, steps=1, n_latents=2, network="dense", out=tmp_path / "plain")
    page = tmp_path / "explorer.html"
    assert run(tmp_path / "plain", "-o", page).exit_code == 0
    assert run(tmp_path / "run", "-o", page).exit_code == 0
    # Earlier versions kept the name alone, which opens the data with other options.
    record = json.loads((tmp_path / "run" / "spec.json").read_text())
    del record["data"]["source"]
    (tmp_path / "run" / "spec.json").write_text(json.dumps(record))
    assert run(tmp_path / "run", "-o", page).exit_code == 2
    about = {"spec": {"data": "xy_squares:n_squares=1"}}
    (tmp_path / "run" / "run.json").write_text(json.dumps(about))
    result = run(tmp_path / "run", "-o", page)
    assert result.exit_code == 0, result.output
    # A discovery says it beside the folder of its model.
    save_model(spec.model, tmp_path / "found" / "model", spec.spec)
    plan = {"fingerprint": data.fingerprint(), "study": about["spec"]}
    (tmp_path / "found" / "plan.json").write_text(json.dumps(plan))
    result = run(tmp_path / "found" / "model", "-o", page)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere"], "model.json"),
        (["one", "--data", "xy_object"], "but the data have shape (3, 64, 64)"),
        (
            ["one", "--data", DATA, "--names", "nowhere.json"],
            "there is no file 'nowhere.json'",
        ),
    ],
)
def test_failures_are_one_sentence(folders, tmp_path, arguments, sentence):
    model, *options = arguments
    result = run(folders / model, *options, "-o", tmp_path / "explorer.html")
    assert result.exit_code == 1
    assert sentence in str(result.exception)
    assert not (tmp_path / "explorer.html").exists()


def test_the_help_has_an_example():
    result = run("--help")
    assert result.exit_code == 0
    assert "unbraid explore" in result.output
