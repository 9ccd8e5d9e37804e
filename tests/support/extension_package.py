"""Packages that Python takes for installed, without pip and without a network."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "extension"


def install(folder, sources, project):
    """What an installer would leave in a folder, for the text of a pyproject.toml."""
    about = tomllib.loads(project)["project"]
    name = about["name"].replace("-", "_")
    info = folder / f"{name}-{about['version']}.dist-info"
    info.mkdir(parents=True)
    info.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    )
    lines = []
    for group, entries in about["entry-points"].items():
        lines += [f"[{group}]", *(f"{key} = {value}" for key, value in entries.items())]
    info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")
    for name, text in sources.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def install_example(folder):
    """The package of ``examples/extension``, as its own pyproject.toml describes it."""
    sources = {
        str(path.relative_to(EXAMPLE)): path.read_text()
        for path in EXAMPLE.glob("unbraid_example/**/*.*")
        if path.suffix in (".py", ".yaml")
    }
    install(folder, sources, EXAMPLE.joinpath("pyproject.toml").read_text())


_DRIVER = """
import contextlib, io, json, sys
import pytest
from typer.testing import CliRunner
from unbraid.cli._app import app

results = []
for arguments in json.load(sys.stdin):
    if arguments[0] == "pytest":
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = pytest.main(arguments[1:])
        results.append((int(code), said.getvalue(), ""))
    elif arguments[0] == "python":
        with contextlib.redirect_stderr(io.StringIO()) as said:
            exec(arguments[1])
        results.append((0, "", said.getvalue()))
    else:
        done = CliRunner().invoke(app, arguments)
        wrong = "" if done.exit_code != 1 else repr(done.exception)
        results.append((done.exit_code, done.stdout, done.stderr + wrong))
json.dump(results, sys.stdout)
"""


def run_commands(commands, *, extra, cwd):
    """Exit code, output and complaints of commands, in one process of their own.

    Args:
        commands: Each a list of arguments, of ``unbraid`` or of ``pytest``, or
            ``python`` and code.
        extra: Folder of packages that this process finds beside all others.
        cwd: Where it runs.
    """
    done = run_python("-c", _DRIVER, extra=extra, cwd=cwd, input=json.dumps(commands))
    assert done.returncode == 0, done.stderr
    return [Done(*result) for result in json.loads(done.stdout)]


class Done(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def words(self):
        """Complaints without the frames and line breaks of the terminal."""
        return " ".join(self.err.replace("│", " ").split())


def run_python(*arguments, extra, cwd, **options):
    """Python with the packages of a folder, and unbraid from this source."""
    paths = os.pathsep.join([str(extra), str(ROOT / "src")])
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": paths},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        **options,
    )
