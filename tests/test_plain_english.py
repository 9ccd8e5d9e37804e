"""``tools/plain_english.py`` finds what it is meant to find."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parent.parent / "tools" / "plain_english.py"


def _check(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    (folder / "module.py").write_text(source)
    return subprocess.run(
        [sys.executable, TOOL, folder], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("source", "finding"),
    [
        (
            'def f(a):\n    """Do.\n\n    Args:\n        a: Of it.\n    """',
            ":5: fragment",
        ),
        (
            'class A:\n    """A.\n\n    Attributes:\n        b: How.\n    """',
            "fragment",
        ),
        ("option(help='Of the first run.')", ":1: help: Of the first run."),
        ("raise ValueError(f'f: expected a number, got {a}')", ":1: message"),
        ("def open_place(): ...", "instead of 'place'"),
        ("n_neighbours = 1", "American"),
    ],
)
def test_a_finding_is_printed_and_fails(
    tmp_path: Path, source: str, finding: str
) -> None:
    result = _check(tmp_path, source)
    assert result.returncode == 1
    assert finding in result.stdout
    assert "1 findings" in result.stdout


def test_plain_code_passes(tmp_path: Path) -> None:
    result = _check(
        tmp_path,
        'def f(seconds):\n    """Wait.\n\n    Args:\n'
        '        seconds: Estimated total run time.\n    """\n'
        "    raise ValueError(f'seconds must be positive, got {seconds}.')\n",
    )
    assert (result.returncode, result.stdout) == (0, "")
