"""Every example runs, with small arguments."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
ARGUMENTS = {
    "score_pca.py": ["--images", "300", "--components", "4"],
    "score_clip.py": ["--images", "120", "--metrics", "mig"],
}


def test_every_example_is_listed():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(ARGUMENTS)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_example_runs(name):
    command = [sys.executable, EXAMPLES / name, *ARGUMENTS[name]]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "mig" in done.stdout
