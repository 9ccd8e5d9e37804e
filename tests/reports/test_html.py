"""Claims about report.html: what it says, that it is safe, and how large it is."""

import base64
import json
import re
import shutil
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from command_line import app
from miniature_study import MINIATURE
from small_discovery import plan_small
from typer.testing import CliRunner

from unbraid.data import LabeledImages
from unbraid.execution import InlineExecutor
from unbraid.foundation import locked, write_json
from unbraid.reports import write_report
from unbraid.reports.explorer._explorer_page import script_hash
from unbraid.reports.pages import _model_section
from unbraid.reports.pages._page import (
    Notice,
    Page,
    Preformatted,
    Section,
    Table,
    render,
)
from unbraid.reports.pages._study_sections import run_notices
from unbraid.studies import (
    StudyFolder,
    make_table,
    read_records,
    run_study,
    study_from_plain,
)
from unbraid.training import fit

HOSTILE = "<script>alert(\"x\")</script> 'q' & \u202eevil \U0001f600"
STUDY = MINIATURE | {
    "methods": {"beta_vae": {"beta": [1, 4]}, "vae": None},
    "seeds": 2,
}


class Content(HTMLParser):
    """Tags with attributes, and all text, of a page."""

    def __init__(self, path):
        super().__init__()
        self.tags, self.words, self._skipped = [], [], 0
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._skipped += tag == "style"

    def handle_endtag(self, tag):
        self._skipped -= tag == "style"

    def handle_data(self, data):
        if not self._skipped:
            self.words.append(data)

    @property
    def text(self):
        return " ".join("".join(self.words).split())

    def values(self, tag, attribute):
        return [found.get(attribute) for name, found in self.tags if name == tag]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports") / "study"
    run_study(study_from_plain(STUDY), folder, executor=InlineExecutor())
    return folder


@pytest.fixture
def copy(study, tmp_path):
    return StudyFolder(shutil.copytree(study, tmp_path / "study"))


@pytest.fixture(scope="module")
def path(study, tmp_path_factory):
    return write_report(study, tmp_path_factory.mktemp("page") / "r.html")


@pytest.fixture(scope="module")
def page(path):
    return Content(path)


def csv_of(page, file):
    """Lines of the numbers behind a link."""
    links = {
        found.get("download"): found["href"] for tag, found in page.tags if tag == "a"
    }
    return base64.b64decode(links[file].split("base64,")[1]).decode().splitlines()


def fail(cell, error):
    cell.files.scores.unlink(missing_ok=True)
    write_json(cell.files.failure, {"error": error}, kind="failure")


def test_a_study_is_told_from_beginning_to_end(page):
    assert "miniature" in page.text
    for part in (
        "Setup",
        "Ranking",
        "95% interval",
        "The best run",
        "What each latent does",
        "Which latent encodes which factor",
        "Settings and versions",
        "study.yaml",
    ):
        assert part in page.text, part
    assert "failed." not in page.text


def test_a_page_asks_for_nothing_from_outside(page):
    assert not [tag for tag, _ in page.tags if tag in ("script", "link")]
    sources = [
        value
        for _, found in page.tags
        for name, value in found.items()
        if name in ("src", "href", "xlink:href", "action", "srcset")
    ]
    assert sources
    assert all(value.startswith(("data:", "#")) for value in sources)
    assert not [name for _, found in page.tags for name in found if name[:2] == "on"]
    policy = next(c for c in page.values("meta", "content") if c and "-src" in c)
    assert policy.startswith("default-src 'none'")
    (script,) = re.findall(r"script-src ([^;]*);", policy)
    assert script == f"'{script_hash()}'"


def test_the_explorer_of_the_best_run_is_inside_and_shut_off(page):
    (frame,) = [found for tag, found in page.tags if tag == "iframe"]
    assert frame["srcdoc"].startswith("<!doctype html>")
    assert '"is_part": true' in frame["srcdoc"]
    assert frame["sandbox"] == "allow-scripts allow-downloads"
    assert "src" not in frame
    assert "#explorer" in page.values("a", "href")


def test_an_explorer_that_is_too_large_is_left_to_a_file_of_its_own(
    study, tmp_path, monkeypatch
):
    monkeypatch.setattr(_model_section, "_LARGEST_EXPLORER", 1_000)
    found = Content(write_report(study, tmp_path / "r.html"))
    assert "`unbraid explore` writes it to a file of its own" in found.text
    assert "iframe" not in dict(found.tags)
    policy = next(c for c in found.values("meta", "content") if c and "-src" in c)
    assert "script-src" not in policy


def test_names_inside_a_page_are_unique(page):
    names = [found["id"] for _, found in page.tags if "id" in found]
    own = [name for name in names if name.startswith("part-")]
    assert len(own) == len(set(own)) > 3


def test_every_number_of_a_figure_can_be_had(path, page):
    links = [
        (found["download"], found["href"])
        for tag, found in page.tags
        if tag == "a" and "download" in found
    ]
    assert len(csv_of(page, "runs.csv")) == 1 + 6
    assert {"ranking.csv", "training.csv", "latents.csv"} <= set(dict(links))
    figures = path.read_text().split("<figure")[1:]
    assert len(figures) > 8
    assert all('download="' in figure.split("</figure>")[0] for figure in figures)


def test_a_second_page_is_the_same_but_for_a_link_to_an_explorer(study, path):
    before = {file: file.stat().st_mtime_ns for file in study.rglob("*")}
    (path.parent / "explorer.html").touch()
    again = write_report(study, path.parent / "again.html").read_text()
    link = ' <a href="explorer.html">Open the explorer on its own page</a>.'
    assert link in again
    assert again.replace(link, "") == path.read_text()
    # Nothing was trained, and nothing was written but the page.
    assert {file: file.stat().st_mtime_ns for file in study.rglob("*")} == before


def test_failed_running_and_finished_runs_are_told_apart(copy, tmp_path):
    cells = copy.cells
    fail(cells[0], f"loss is NaN {HOSTILE}")
    fail(cells[1], f"loss is NaN {HOSTILE}")
    cells[2].files.scores.unlink()
    with locked(cells[2].files.lock) as is_mine:
        assert is_mine
        found = Content(write_report(copy.path))
    assert "2 of 6 runs failed." in found.text
    assert f"2 runs ({cells[0].id}, …): loss is NaN {HOSTILE}" in found.text
    assert "Not finished: 1 running." in found.text
    assert "The best run" in found.text
    assert "script" not in dict(found.tags)


def test_the_command_writes_a_page_of_a_study_without_a_finished_run(copy):
    for cell in copy.cells:
        fail(cell, "out of memory")
    out = copy.path / "deep" / "r.html"
    command = ["report", str(copy.path), "-o", str(out)]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    assert result.output.strip() == str(out)
    again = CliRunner().invoke(app, [*command, "--json"])
    assert json.loads(again.stdout) == {"page": str(out), "bytes": out.stat().st_size}
    found = Content(out)
    assert "No run is finished" in found.text
    assert "All 6 runs failed." in found.text
    assert "Ranking" not in found.text


def test_a_study_of_one_run_is_a_page(tmp_path):
    run_study(study_from_plain(MINIATURE), tmp_path / "s", executor=InlineExecutor())
    found = Content(write_report(tmp_path / "s"))
    assert "it is the only setting" in found.text
    assert "one run only" in found.text
    assert "The run" in found.text


def test_data_without_factors_are_ranked_by_elbo_and_the_page_warns(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (40, 1, 8, 8), dtype=np.uint8)
    np.save(tmp_path / "plain.npy", images)
    plain = STUDY | {
        "data": f"{tmp_path / 'plain.npy'}:channels_first=true",
        "evaluation": {"metrics": ["active_units"], "rows": 40},
    }
    run_study(study_from_plain(plain), tmp_path / "s", executor=InlineExecutor())
    found = Content(write_report(tmp_path / "s"))
    assert "in order of the ELBO" in found.text
    assert "Which latent encodes which factor" not in found.text
    (tmp_path / "plain.npy").unlink()
    assert "The data cannot be read" in Content(write_report(tmp_path / "s")).text


@pytest.mark.parametrize("file", ["model.safetensors", "model.json"])
@pytest.mark.parametrize("damage", ["missing", "corrupt"])
def test_a_damaged_model_costs_its_pictures_only(copy, file, damage):
    for cell in copy.cells:
        if damage == "missing":
            (cell.files.path / file).unlink()
        else:
            (cell.files.path / file).write_bytes(b"\0<b>nothing")
    found = Content(write_report(copy.path))
    assert "The model cannot be shown" in found.text
    assert "Ranking" in found.text
    assert "iframe" not in dict(found.tags)


def test_seeds_of_the_best_setting_are_seen_to_learn(tmp_path):
    plain = STUDY | {
        "methods": {"beta_vae": {"beta": [0.01]}},
        "seeds": 3,
        "training": MINIATURE["training"] | {"steps": 150, "learning_rate": 5e-3},
        "traces": {"n_observations": 9, "n_snapshots": 4},
    }
    run_study(study_from_plain(plain), tmp_path / "s", executor=InlineExecutor())
    page = write_report(tmp_path / "s")
    found = Content(page)
    assert "Training dynamics of the seeds of this setting" in found.text
    rows = csv_of(found, "dynamics.csv")
    assert rows[0] == "run,step,row,first,second"
    assert len(rows) == 1 + 3 * 4 * 9
    assert {row.split(",")[0] for row in rows[1:]} == {"seed 0", "seed 1", "seed 2"}
    assert "How this run learned (M-PHATE)" in found.text
    assert len(csv_of(found, "m-phate.csv")) == 1 + 4 * 9
    alone = write_report(next((tmp_path / "s" / "runs").iterdir()))
    assert "How this run learned (M-PHATE)" in Content(alone).text
    # Of one trace there is nothing to compare, and a damaged one is none.
    traces = sorted((tmp_path / "s").glob("runs/*/traces.safetensors"))
    traces[0].write_bytes(b"nothing")
    traces[1].unlink()
    assert "Training dynamics" not in Content(write_report(tmp_path / "s")).text


def test_a_discovery_killed_before_its_study_is_a_page(tmp_path):
    plan_small(tmp_path / "found")
    found = Content(write_report(tmp_path / "found"))
    assert "no model has been chosen yet" in found.text
    assert "nothing was trained yet" in found.text
    assert "study.yaml" in found.text


def test_a_discovery_without_a_finished_run_is_a_page(tmp_path):
    plan_small(tmp_path / "found")
    plan = json.loads((tmp_path / "found" / "plan.json").read_text())
    study = study_from_plain(plan["study"])
    folder = StudyFolder(tmp_path / "found" / "study")
    folder.write(study, {plan["study"]["data"]: plan["fingerprint"]})
    found = Content(write_report(tmp_path / "found"))
    assert "no model has been chosen yet" in found.text
    assert "Not finished: 6 waiting." in found.text
    cell = folder.cells[0]
    cell.files.path.mkdir()
    fail(cell, HOSTILE)
    found = Content(write_report(tmp_path / "found"))
    assert "1 of 6 runs failed." in found.text
    assert HOSTILE in found.text


def test_collapse_is_said_in_words(copy):
    cell = copy.cells[0]
    status = json.loads((cell.files.path / "status.json").read_text())
    words = "The posterior has collapsed: every latent keeps to the prior."
    status["warnings"] = [{"name": "posterior_collapse", "message": words, "step": 9}]
    (cell.files.path / "status.json").write_text(json.dumps(status))
    scores = cell.files.read_scores() | {"warnings": ["posterior_collapse"]}
    write_json(cell.files.scores, scores, kind="scores")
    runs = read_records(copy)
    (notice,) = run_notices(runs, make_table(runs))
    assert notice.level == "problem"
    assert notice.title == "1 of 6 runs ended with a warning."
    assert notice.items == ((f"run {cell.id}", words),)


def test_factor_names_and_titles_are_text_whatever_they_are(tmp_path):
    levels = np.array([[x, y] for x in range(4) for y in range(4)] * 3)
    images = np.repeat(levels.sum(axis=1) * 30, 64).reshape(-1, 1, 8, 8)
    folder = tmp_path / "<img src=x onerror=alert(1)>"
    folder.mkdir()
    np.save(folder / "images.npy", images.astype(np.uint8))
    table = pd.DataFrame(levels, columns=[HOSTILE, "</svg><b>'\""])
    table.to_csv(folder / "factors.csv", index=False)
    data = f"{folder / 'images.npy'}:channels_first=true"
    data += f",factors='{folder / 'factors.csv'}'"
    plain = MINIATURE | {"data": data, "name": HOSTILE}
    run_study(study_from_plain(plain), tmp_path / "s", executor=InlineExecutor())
    path = write_report(tmp_path / "s")
    found = Content(path)
    assert HOSTILE in found.text
    names = {tag for tag, _ in found.tags}
    assert not names & {"script", "img"}
    assert not [name for _, part in found.tags for name in part if name[:2] == "on"]
    title = path.read_text().split("<title>")[1].split("</title>")[0]
    assert "\u202e" not in title


def test_every_text_of_a_page_is_kept_apart(tmp_path):
    rows = ((HOSTILE, HOSTILE),)
    page = Page(
        kind="Study",
        title=HOSTILE,
        lead=HOSTILE,
        facts=((HOSTILE, HOSTILE),),
        notices=(Notice(level="problem", title=HOSTILE, items=((HOSTILE, HOSTILE),)),),
        sections=(
            Section(
                title="Part",
                paragraphs=(HOSTILE,),
                blocks=(
                    Table(title=HOSTILE, columns=(HOSTILE, HOSTILE), rows=rows),
                    Preformatted(title=HOSTILE, text=HOSTILE),
                ),
            ),
        ),
    )
    path = tmp_path / "page.html"
    path.write_text(render(page), encoding="utf-8")
    found = Content(path)
    assert "script" not in {tag for tag, _ in found.tags}
    body = path.read_text().split("<body>")[1]
    assert body.count("\u202e") == body.count("<bdi>&lt;script&gt;") == 15


def test_a_run_of_fit_is_a_page_with_and_without_its_data(squares, tmp_path):
    settings = {"steps": 20, "n_latents": 3, "batch_size": 8, "network": "dense"}
    data = LabeledImages(squares.images(np.arange(len(squares))), name="squares")
    fit("beta_vae", data, out=tmp_path / "run", **settings)
    without = Content(write_report(tmp_path / "run", tmp_path / "r.html"))
    assert "does not name the data" in without.text
    assert "Training" in without.text
    assert "Samples from the prior" in without.text
    found = Content(write_report(tmp_path / "run", data=data))
    assert "A model trained with beta_vae." in found.text
    assert "What each latent does" in found.text


@pytest.mark.parametrize(
    ("shape", "n_latents", "reason"),
    [
        ((1, 1, 8), 1, ""),
        ((3, 5, 7), 2, ""),
        ((4, 8, 8), 2, "1 or 3 channels"),
    ],
)
def test_models_of_odd_shapes_are_pages(tmp_path, shape, n_latents, reason):
    values = np.random.default_rng(0).integers(0, 256, (40, *shape), dtype=np.uint8)
    data = LabeledImages(values, {"level " * 40: np.arange(40) % 4})
    settings = {"steps": 5, "n_latents": n_latents, "network": "dense"}
    fit("vae", data, out=tmp_path / "run", **settings)
    found = Content(write_report(tmp_path / "run", data=data))
    assert ("iframe" in dict(found.tags)) == (not reason)
    assert reason in found.text


def test_a_run_of_a_study_finds_its_data_and_scores(study, tmp_path):
    cell = StudyFolder(study).cells[0]
    found = Content(write_report(cell.files.path, tmp_path / "r.html"))
    assert "What each latent does" in found.text
    assert "mig" in found.text


def test_a_folder_of_something_else_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="is not the folder of a discovery"):
        write_report(tmp_path)


def test_a_study_of_200_runs_stays_below_15_megabytes(copy):
    content = copy.cells[0].files.scores.read_bytes()
    known = json.loads(copy.data_file.read_text())["fingerprints"]
    copy.write(study_from_plain(STUDY | {"seeds": 67}), known)
    cells = StudyFolder(copy.path).cells
    for cell in cells:
        cell.files.path.mkdir(exist_ok=True)
        if not cell.files.scores.is_file():
            cell.files.scores.write_bytes(content)
    assert len(cells) == 201
    assert write_report(copy.path).stat().st_size < 15_000_000
