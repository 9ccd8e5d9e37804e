"""Every example runs, with small arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
TABLE = ROOT / "docs" / "studies" / "mini-2019.csv"
ARGUMENTS = {
    "score_pca.py": ["--images", "300", "--components", "4"],
    "score_clip.py": ["--images", "120", "--metrics", "mig"],
    "study_questions.py": [str(TABLE), "{out}"],
}


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_example_runs(name, tmp_path):
    arguments = [argument.format(out=tmp_path) for argument in ARGUMENTS[name]]
    command = [sys.executable, EXAMPLES / name, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "mig" in done.stdout
