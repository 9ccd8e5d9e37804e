"""The documentation builds without warnings, and holds what it should."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

from unbraid.cli import main

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The pages as a reader gets them."""
    out = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning"),
            *("--keep-going", str(DOCS), str(out)),
        ],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return out


def test_every_page_is_in_the_site_and_in_its_navigation(site):
    index = (site / "index.html").read_text()
    for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")]:
        name = page.relative_to(DOCS).with_suffix(".html").as_posix()
        if "_build" in page.parts:
            continue
        assert (site / name).is_file(), name
        assert name == "index.html" or f'href="{name}"' in index, name


def test_every_objective_has_a_formula_and_a_reference(site):
    from unbraid.models.objectives import OBJECTIVES

    text = (site / "objectives.html").read_text()
    for name, kind in OBJECTIVES.built_in.items():
        section = text.split(f">{name}<", 1)[1].split("<section", 1)[0]
        assert f'<span class="pre">{kind.__name__}</span>' in section
        assert "References" in section, name
    assert text.count("<math") > len(OBJECTIVES.built_in)


ROOMS = {
    "data": "data",
    "models": "models",
    "objectives": "models.objectives",
    "networks": "models.networks",
    "training": "training",
    "metrics": "metrics",
    "geometry": "geometry",
    "selection": "selection",
    "studies": "studies",
    "analysis": "studies.analysis",
    "evolution": "evolution",
    "execution": "execution",
    "perception": "perception",
    "discovery": "discovery",
    "agents": "agents",
    "testing": "testing",
}


@pytest.mark.parametrize("page", ROOMS)
def test_a_page_of_the_api_holds_every_public_name_of_its_room(site, page):
    room = import_module(f"unbraid.{ROOMS[page]}")
    text = (site / "api" / f"{page}.html").read_text()
    for name in room.__all__:
        if isinstance(getattr(room, name), type | FunctionType):
            assert f'id="{room.__name__}.{name}"' in text, name


def test_no_page_loads_anything_from_the_network(site):
    loads = re.compile(
        r'<(?:script|img|link|iframe)[^>]*?(?:src|href)="((?:https?:)?//[^"]*)'
    )
    for page in site.rglob("*.html"):
        assert not loads.findall(page.read_text()), page.name
    for style in site.rglob("*.css"):
        assert not re.findall(r"url\(['\"]?(?:https?:)?//", style.read_text()), style


def test_the_tutorial_on_two_encoders_runs(tmp_path, monkeypatch):
    text = (DOCS / "metrics.md").read_text()
    section = text.split("## Compare two encoders", 1)[1].split("\n## ", 1)[0]
    program = "\n".join(re.findall(r"```python\n(.*?)```", section, re.DOTALL))
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    exec(compile(program, "docs/metrics.md", "exec"), names)
    assert names["factors"].kinds == ("categorical", "continuous", "cyclic")
    assert names["card"]["dci"]["dci_informativeness"].per_factor["age"] > 0.8
    for figure in ("a.png", "comparison.png", "matrices.png"):
        assert (tmp_path / figure).read_bytes().startswith(b"\x89PNG")
    np.save("a.npy", names["Z_a"])
    np.save("b.npy", names["Z_b"])
    names["labels"].to_csv("labels.csv", index=False)
    commands = re.findall(r"^unbraid (.*)$", section, re.MULTILINE)
    assert len(commands) == 2
    for command in commands:
        words = ["unbraid", *command.split(), "--metrics", "mig,sap"]
        monkeypatch.setattr(sys, "argv", words)
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 0


def test_the_example_on_batches_prints_what_the_page_says(
    tmp_path, monkeypatch, capsys
):
    text = (DOCS / "data.md").read_text()
    program = re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1)
    expected = re.search(r"It prints\n\n```\n(.*?)```", text, re.DOTALL).group(1)
    monkeypatch.chdir(tmp_path)
    exec(compile(program, "docs/data.md", "exec"), {})
    assert capsys.readouterr().out == expected


def test_every_name_that_a_page_imports_exists():
    found = 0
    for page in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
        lines = re.findall(
            r"^from (unbraid[\w.]*) import (\([^)]*\)|.*)$",
            page.read_text(),
            re.MULTILINE,
        )
        for module, names in lines:
            for name in re.findall(r"\w+", names):
                assert hasattr(import_module(module), name), (page.name, module, name)
                found += 1
    assert found > 20
