import json
import sys

import numpy as np
import pandas as pd
import pytest

from unbraid.cli import main


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


@pytest.fixture
def run(files, monkeypatch, capsys):
    """Run the command as a user does; gives exit code, stdout and stderr."""

    def compare(*arguments):
        monkeypatch.chdir(files)
        options = ["--factors", "v.csv", "--metrics", "mig,modularity"]
        words = ["unbraid", "compare", *options, *arguments]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return compare


def test_a_table_a_figure_and_a_file(files, run):
    words = ("mixed.npy", "good.npy", "--json", "both.json")
    code, out, _ = run(*words, "--plot", "both.png")
    assert code == 0
    assert "good - mixed" in out
    assert "color (categorical), shape (ordinal)" in out
    assert (files / "both.png").read_bytes().startswith(b"\x89PNG")
    record = json.loads((files / "both.json").read_text())
    assert record["baseline"] == "mixed"
    assert record["differences"][0]["better"] == "good"
    assert run(*words)[0] == 0  # its own file is replaced


def test_names_may_be_given(run):
    code, out, err = run("mixed.npy", "good.npy", "--names", "A,B", "--no-intervals")
    assert code == 0
    assert "B - A" in out
    assert "No interval of mig, modularity: not requested." in err


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("good.npy", "--names", "A"),
        ("good.npy", "--names", "A,A"),
        ("good.npy", "--metrics", "migg"),
        ("good.npy", "--kinds", "color=red"),
        ("good.npy", "--kinds", "weight=ordinal"),
        ("good.npy", "--columns", "weight"),
        ("good.npy", "--budget", "soon"),
        ("good.npy", "--json", "no/folder/both.json"),
    ],
)
def test_wrong_usage(run, options):
    code, _, err = run("mixed.npy", *options)
    assert code == 2
    assert "--help" in err


def test_other_rows_and_missing_files_are_failures(run):
    code, _, err = run("good.npy", "short.npy")
    assert code == 1
    assert "200" in err
    assert run("good.npy", "none.npy")[0] == 1
