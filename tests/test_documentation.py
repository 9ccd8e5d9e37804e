"""The documentation builds without warnings, and holds what it should."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest
import typer
from command_line import app

from unbraid.cli import main
from unbraid.execution import InlineExecutor
from unbraid.foundation import read_yaml
from unbraid.studies import study_from_plain

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


PAGES = sorted(
    path
    for path in (
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
        *(ROOT / "benchmarks").glob("*.md"),
        *DOCS.rglob("*.md"),
        *DOCS.rglob("*.rst"),
    )
    if "_build" not in path.parts
)


def name_of(page):
    """Return the path of a page in the repository, as the name of its test."""
    return page.relative_to(ROOT).as_posix()


def blocks(text, language):
    """Return the blocks of code of a page in a language, or in none (``""``)."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands_of(text):
    """Return all calls of unbraid on a page, in blocks and within sentences."""
    within = re.findall(r"(?<!`)``?(unbraid [^`]+)``?", text)
    lines = [
        # A description follows after two spaces or a hash.
        re.split(r"\s{2,}(?!-)|\s+[#&>]", line)[0]
        for block in blocks(text, "")
        for line in block.splitlines()
        if line.startswith("unbraid ")
    ]
    return [" ".join(command.split()) for command in (*within, *lines)]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_on_a_page_exists_with_its_options(page):
    for text in commands_of(page.read_text()):
        if " | " in text:  # several commands in one
            continue
        words = shlex.split(re.sub(r"\|\S+", "", text))[
            1:
        ]  # the first choice of several
        command = typer.main.get_command(app)
        context = command.make_context("unbraid", [], resilient_parsing=True)
        while hasattr(command, "resolve_command") and words and words[0].islower():
            _, command, words = command.resolve_command(context, words)
            assert command is not None, text
        if words and words[0] != "--help":
            fault = None
            try:
                command.make_context("unbraid", words, parent=context)
            except typer.Exit:
                continue
            except typer.BadParameter.__bases__[0] as error:  # errors of usage
                fault = error
            # A sentence may leave out arguments that do not matter in it.
            left_out = ("NoneType", "MissingParameter", "BadOptionUsage")
            assert type(fault).__name__ in left_out, (text, fault)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_program_on_a_page_compiles(page):
    for program in blocks(page.read_text(), "python"):
        compile(program, page.name, "exec")


SMALL = "XYSquares(image_size=8, square_size=1, n_squares=1)"  # 64 images

# What is replaced in the programs of a page so that they take a second in place of
# minutes. All else is executed as it is printed.
SHORTER = {
    "users/encoder-owner.md": {},
    "choosing.md": {"steps=100": "steps=3"},
    "reproducing.md": {
        '"michlo-table-4-2", "mini"': '"locatello-impossibility", "smoke"'
    },
    "reports.md": {
        "import XYObject": "import XYSquares",
        "XYObject(image_size=16, square_sizes=(2, 4, 6))": SMALL,
        "steps=2000": "steps=2",
    },
    "quick-start.md": {
        "run.model, XYObject()": 'run.model, XYObject(), metrics=["mig"]',
        "import XYObject": "import XYSquares",
        "XYObject()": SMALL,
        "steps=5000": "steps=2",
    },
    "training.md": {
        "(model, XYObject()": '(model, XYObject(), metrics=["mig"]',
        "import XYObject": "import XYSquares",
        "XYObject()": SMALL,
        "steps=5000": "steps=2",
        "score_every=500": "score_every=1, log_every=1",
    },
    "perceived-distances.md": {
        "XYSquares()": SMALL,
        "radius=63, steps=400": "radius=3, steps=2",
        "steps=5000": "steps=2",
    },
    "populations.md": {
        "xy_object:image_size=16,square_sizes=[2,4,6]": (
            "xy_squares:image_size=8,square_size=1,n_squares=1"
        ),
        '"labels": 1000': '"labels": 60',
        '{"size": 8, "generations": 5, "images": 20_000}': (
            '{"size": 1, "founders": 1, "generations": 1, "images": 64}'
        ),
        '"population")': '"population", executor=InlineExecutor())',
    },
}


@pytest.mark.parametrize("page", SHORTER)
def test_the_programs_of_a_page_run_from_top_to_bottom(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (DOCS / page).read_text()
    program = "\n".join(blocks(text, "python"))
    for old, new in SHORTER[page].items():
        assert old in program, old
        program = program.replace(old, new)
    names = {"InlineExecutor": InlineExecutor}
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(program, page, "exec"), names)
    if "It prints" in text:
        printed = re.search(r"It prints\n\n```\n(.*?)```", text, re.DOTALL)[1]
        assert output.getvalue().startswith(printed)


@pytest.mark.parametrize("page", ["studies.md", "populations.md"])
def test_every_study_on_a_page_can_be_read(page):
    for settings in blocks((DOCS / page).read_text(), "yaml"):
        parts = {"data": "discs", "objective": "beta_vae"} | read_yaml(settings, page)
        if "methods" in parts:
            del parts["objective"]
        assert study_from_plain(parts).runs()


def test_every_figure_in_the_table_of_reports_exists():
    table = (DOCS / "reports.md").read_text().split("## Single figures", 1)[1]
    rooms = [import_module(f"unbraid.{name}") for name in ("reports", "selection")]
    rooms.append(import_module("unbraid.studies.analysis"))
    names = re.findall(r"`(?:draw_|animate_)?\w+(?=[`(])", table)
    found = [name[1:] for name in names if "_" in name or name == "`reconstructions"]
    assert len(found) > 30
    for name in found:
        assert any(hasattr(room, name) for room in rooms), name
