import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from unbraid import evaluate
from unbraid.cli._app import app


@pytest.fixture
def files(tmp_path):
    factors = np.stack(np.meshgrid(range(4), range(5)), axis=-1).reshape(-1, 2)
    factors = np.tile(factors, (10, 1))
    np.save(tmp_path / "z.npy", factors + 0.0)
    pd.DataFrame(factors, columns=["x", "y"]).to_csv(tmp_path / "v.csv", index=False)
    np.savez(tmp_path / "both.npz", codes=factors + 0.0, factors=factors)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["evaluate", *(str(a) for a in arguments)])


def test_scores_are_printed_and_written(files):
    result = run(
        "--codes", files / "z.npy", "--factors", files / "v.csv",
        "--metrics", "mig,modularity", "--json", files / "scores.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "modularity" in result.output
    scores = json.loads((files / "scores.json").read_text())
    assert scores["scores"]["mig"]["value"] == pytest.approx(1.0)
    assert scores["factor_names"] == ["x", "y"]


def test_scores_of_symmetries_are_those_of_the_library(files):
    codes, factors = np.load(files / "z.npy"), pd.read_csv(files / "v.csv")
    codes = codes + 0.2 * np.random.default_rng(0).standard_normal(codes.shape)
    np.save(files / "z.npy", codes)
    names = ["equivariance", "block_diagonality", "analogies"]
    result = run(
        "--codes", files / "z.npy", "--factors", files / "v.csv",
        "--metrics", ",".join(names), "--json", files / "scores.json",
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    scores = json.loads((files / "scores.json").read_text())["scores"]
    card = evaluate(codes, factors.to_numpy(), metrics=names, progress=False)
    assert {name: scores[name]["value"] for name in names} == {
        name: float(card[name]) for name in names
    }


def test_an_archive_may_hold_both(files):
    both = files / "both.npz"
    result = run("--codes", both, "--factors", both, "--metrics", "mig")
    assert result.exit_code == 0
    assert "1.0000" in result.output


def test_wrong_metrics_are_wrong_usage(files):
    result = run("--codes", files / "z.npy", "--metrics", "nonsense")
    assert result.exit_code == 2


@pytest.mark.parametrize("name", ["missing.npy", "z.txt", "broken.npy", "odd.npz"])
def test_files_that_are_none_are_refused(files, name):
    (files / "z.txt").write_text("1 2")
    (files / "broken.npy").write_bytes(b"nothing")
    np.savez(files / "odd.npz", a=np.zeros(3), b=np.zeros(3))
    result = run("--codes", files / name)
    assert result.exit_code == 1
    assert isinstance(result.exception, ValueError | OSError)


def test_a_first_line_of_numbers_is_a_row(files):
    table = np.load(files / "z.npy")
    np.savetxt(files / "z.csv", table, delimiter=",")
    result = run("--codes", files / "z.csv", "--factors", files / "v.csv",
                 "--metrics", "mig,,mig")  # fmt: skip
    assert result.exit_code == 0, result.output
    assert "200 rows" in result.output
    assert result.output.count("mig") == 1


def test_no_score_at_all_is_a_failure(files):
    np.save(files / "one.npy", np.load(files / "z.npy")[:, :1])
    result = run("--codes", files / "one.npy", "--factors", files / "v.csv",
                 "--metrics", "mig")  # fmt: skip
    assert result.exit_code == 1
    assert "at least two latents" in " ".join(result.output.split())


def test_a_file_that_cannot_be_written_is_refused_before_the_work(files):
    result = run("--codes", files / "z.npy", "--json", files / "no" / "scores.json")
    assert result.exit_code == 2
