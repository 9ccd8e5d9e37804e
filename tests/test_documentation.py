"""The documentation builds without warnings, and holds what it should."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import pytest

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
    "executors": "studies.executors",
    "discovery": "discovery",
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
