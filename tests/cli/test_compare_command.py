import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unbraid.cli._app import app


@pytest.fixture
def files(tmp_path):
    generator = np.random.default_rng(0)
    factors = generator.integers(0, 4, (300, 2))
    good = factors + 0.3 * generator.normal(size=(300, 2))
    np.save(tmp_path / "good.npy", good)
    np.save(tmp_path / "mixed.npy", good @ np.array([[1.0, 1.0], [1.0, -1.0]]))
    np.save(tmp_path / "short.npy", good[:200])
    names = np.array(["red", "green", "blue", "gray"])
    frame = pd.DataFrame({"color": names[factors[:, 0]], "shape": factors[:, 1]})
    frame.to_csv(tmp_path / "v.csv", index=False)
    return tmp_path


def run(folder, *arguments):
    options = ["--factors", folder / "v.csv", "--metrics", "mig,modularity"]
    return CliRunner().invoke(app, ["compare", *map(str, (*arguments, *options))])


def test_a_table_a_figure_and_a_file(files):
    result = run(
        files, files / "mixed.npy", files / "good.npy",
        "--plot", files / "both.png", "--json", files / "both.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "good - mixed" in result.output
    assert "color (categorical), shape (ordinal)" in result.output
    assert (files / "both.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((files / "both.json").read_text())
    assert record["baseline"] == "mixed"
    assert record["differences"][0]["better"] == "good"
    again = run(files, files / "mixed.npy", files / "good.npy",
                "--json", files / "both.json")  # fmt: skip
    assert again.exit_code == 0


def test_names_may_be_given(files):
    result = run(files, files / "mixed.npy", files / "good.npy",
                 "--names", "A,B", "--no-intervals")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "B - A" in result.output
    assert "No interval" in result.output


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("good.npy", "--names", "A"),
        ("good.npy", "--names", "A,A"),
        ("good.npy", "--metrics", "migg"),
        ("good.npy", "--kinds", "color=red"),
        ("good.npy", "--kinds", "weight=ordinal"),
        ("good.npy", "--budget", "soon"),
        ("good.npy", "--json", "no/folder/both.json"),
    ],
)
def test_wrong_usage(files, options):
    arguments = [files / "mixed.npy"]
    arguments += [files / part if part.endswith("npy") else part for part in options]
    result = CliRunner().invoke(
        app, ["compare", "--factors", str(files / "v.csv"), *map(str, arguments)]
    )
    assert result.exit_code == 2, result.output


def test_other_rows_are_a_failure(files):
    result = run(files, files / "good.npy", files / "short.npy")
    assert result.exit_code == 1
    assert "200" in str(result.exception)
