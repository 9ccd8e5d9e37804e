"""Three stories from beginning to end, as the documentation tells them."""

import ast
import json
import re
from pathlib import Path

import pandas as pd
import pytest
from small_discovery import plan_small
from whole_command import run_whole

from unbraid.cli.commands import ExecutorOptions
from unbraid.execution import InlineExecutor
from unbraid.metrics import METRICS
from unbraid.models.objectives import OBJECTIVES

USERS = Path(__file__).parent.parent / "docs" / "users"
BLOCK = re.compile(r"^```(\S* ?\S*)\n(?::caption: (\S+)\n\n)?(.*?)^```$", re.M | re.S)


@pytest.fixture(autouse=True)
def _in_this_process(tmp_path, monkeypatch):
    """Work in an empty folder, and train without the seconds that workers take."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ExecutorOptions, "make", lambda self: InlineExecutor())
    for catalog in (OBJECTIVES, METRICS):
        monkeypatch.setattr(catalog, "_from_files", {})


def read_blocks(page, **replaced):
    """Return language, file and content of each block of code on a page."""
    text = (USERS / page).read_text()
    for old, new in replaced.values():
        assert old in text
        text = text.replace(old, new)
    return BLOCK.findall(text)


def follow(language, file, content, names):
    """Do what a reader does with a block: save it, run it, or type its commands."""
    if file:
        Path(file).write_text(content)
    elif language == "python":
        exec(compile(content, "a page", "exec"), names)
    else:
        for line in content.splitlines():
            command, *words = line.split()
            assert command == "unbraid"
            done = run_whole(*words)
            assert done.returncode == 0, done.stderr


def test_from_pictures_to_a_table_of_codes(capsys):
    names: dict = {}
    for number, block in enumerate(read_blocks("practitioner.md")):
        follow(*block, names)
        if number == 0:  # a plan of seconds in place of one that takes ten minutes
            plan_small(
                Path("found"), "pictures", betas=(1,), steps=800, seeds=3, asked=600.0
            )
    table = pd.read_csv("codes.csv")
    assert table["file"].tolist() == [f"{number:03}.png" for number in range(300)]
    latents = table.filter(like="latent_").to_numpy()
    assert latents.shape == names["codes"].shape == (300, 4)
    assert abs(latents - names["codes"]).max() < 1e-5
    for file in ("summary.txt", "report.html", "explorer.html", "files.txt"):
        assert (Path("found") / file).is_file()
    picture = Path("found/worst-reconstructions.png").read_bytes()
    assert picture.startswith(b"\x89PNG")
    assert "worst-reconstructions.png" in Path("found/summary.txt").read_text()


def test_two_encoders_are_compared_in_a_notebook():
    notebook = json.loads((USERS / "two_encoders.ipynb").read_text())
    names, shown = {}, []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == []
            shown.append(show("".join(cell["source"]), names))
    assert sum("<table" in view for view in shown) == 4
    assert sum(view.startswith("\x89PNG") for view in shown) == 2
    assert Path("comparison.pdf").read_bytes().startswith(b"%PDF")
    assert len(pd.read_csv("comparison.csv")) == 3
    page = (USERS / "encoder-owner.md").read_text()
    assert "{download}`two_encoders.ipynb`" in page


def show(source, names):
    """Run a cell, and return what a notebook would show below it."""
    *body, last = ast.parse(source).body
    is_value = isinstance(last, ast.Expr)
    program = ast.Module([*body, *([] if is_value else [last])], type_ignores=[])
    exec(compile(program, "a cell", "exec"), names)
    if not is_value:
        return ""
    value = eval(compile(ast.Expression(last.value), "a cell", "eval"), names)
    if hasattr(value, "_repr_png_"):
        return value._repr_png_().decode("latin-1")
    return "" if value is None else value._repr_html_()


def test_from_an_objective_and_a_metric_in_a_file_to_a_figure(capsys):
    names: dict = {}
    for block in read_blocks("researcher.md", steps=("steps: 3000", "steps: 20")):
        follow(*block, names)
    table = names["table"]
    assert len(table) == 12
    assert set(table["status"]) == {"done"}
    own = Path("mine.py").resolve()
    assert set(table["objective.name"]) == {"beta_vae", f"{own}:LogVAE"}
    scores = ["mig", "sap", "best_correlation"]
    assert names["agreement"].values.columns.tolist() == scores
    assert names["variance"].shares["score"].tolist() == scores
    for figure in ("methods.pdf", "agreement.pdf"):
        assert Path(figure).read_bytes().startswith(b"%PDF")
    assert "best_correlation" in Path("study.html").read_text()
    assert "best_correlation" in capsys.readouterr().out
