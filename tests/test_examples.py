"""Every example runs, with small arguments."""

import runpy
import sys
from pathlib import Path

import pytest
from miniature_population import PLAIN, population
from miniature_study import MINIATURE

from unbraid.execution import InlineExecutor
from unbraid.studies import run_study, study_from_plain

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TABLE = ROOT / "docs" / "studies" / "mini-2019.csv"
ARGUMENTS = {
    "choosing_tables.py": [
        "{out}/study",
        "{out}/tables.json",
        "--noisy-seeds=1",
        "--subsets=1",
    ],
    "clip_table.py": ["--images", "60", "--data", "xy_squares:n_squares=1"],
    "impossibility.py": ["--rows", "1500", "--latents", "4"],
    "population_tables.py": ["{out}/study"],
    "score_pca.py": ["--images", "300", "--components", "4"],
    "score_clip.py": ["--images", "120", "--metrics", "mig"],
    "study_questions.py": [str(TABLE), "{out}"],
}


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ARGUMENTS)


def make_traced_study(folder):
    """Two specifications, three realisations of each, with traces."""
    metrics = ["beta_vae_score", "factor_vae_score", "mig"]
    plain = MINIATURE | {
        "evaluation": {"metrics": metrics, "rows": 64},
        "training": MINIATURE["training"] | {"learning_rate": 1e-2, "steps": 200},
        "objective": "beta_vae",
        "traces": {"n_observations": 20, "n_snapshots": 4},
        "grid": {"objective.beta": [0.1, 1]},
        "seeds": 3,
    }
    run_study(study_from_plain(plain), folder, executor=InlineExecutor())


def make_bred_study(folder):
    """A population and a plain run, with the scores that the tables have."""
    shared = {key: value for key, value in PLAIN.items() if key != "seed"}
    own = population("unsupervised", generations=1, size=2)["evolution"]
    plain = shared | {
        "evaluation": {"metrics": ["mig", "dci"], "rows": 64},
        "training": shared["training"] | {"steps": 20},
        "grid": {"evolution": [None, own]},
    }
    run_study(study_from_plain(plain), folder, executor=InlineExecutor())


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_example_runs(name, tmp_path, monkeypatch, capsys):
    if name == "choosing_tables.py":
        make_traced_study(tmp_path / "study")
    if name == "population_tables.py":
        make_bred_study(tmp_path / "study")
    arguments = [argument.format(out=tmp_path) for argument in ARGUMENTS[name]]
    # In this process, without the seconds that a new one takes to import the libraries.
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert "mig" in said.out
