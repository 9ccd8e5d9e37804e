"""One damaged file in a folder of ours: the work is done again, or a sentence says so.

Every case copies a folder that is finished, damages one file of it, and calls the
library. It must end in the result of the undamaged folder, or in one line that names
the culprit, within a time limit, and must leave the files of the user alone.
"""

import itertools
import json
import shutil
import signal
from pathlib import Path

import pytest
from miniature_population import population
from miniature_study import MINIATURE
from small_discovery import lamps, plan_small

from unbraid.discovery import _write_discovery, discover
from unbraid.evolution import evolve, read_lineage
from unbraid.execution import InlineExecutor
from unbraid.reports import write_report
from unbraid.reports.pages._run_page import run_page
from unbraid.studies import (
    RunSpec,
    StudyFolder,
    prune,
    run_study,
    study_from_plain,
    study_status,
    study_table,
)
from unbraid.training import Run, Trace, load

SECONDS = 30
DEEP = "[" * 20_000
NOTES = ("notes.txt", "runs/my notes/notes.txt", "runs/0123456789abcdef/notes.txt")

DAMAGES = (
    "empty",
    "cut",
    "list",
    "types",
    "nested",
    "noise",
    "folder",
    "dangling",
    "another",
)


@pytest.fixture(autouse=True)
def _time_limit():
    def stop(*_):
        raise TimeoutError(f"more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def wrong_types(value):
    """The same keys, with values that have other types."""
    if isinstance(value, dict):
        return {
            key: part if key in ("format", "kind") else wrong_types(part)
            for key, part in value.items()
        }
    if isinstance(value, str):
        return [value]
    return {"x": "y"} if isinstance(value, list) else "x"


def damage(path, how, other):
    """Spoil a file.

    Args:
        path: What to spoil.
        how: One of ``DAMAGES``.
        other: The file of the same name of another run.
    """
    content = path.read_bytes()
    path.unlink()
    if how == "folder":
        path.mkdir()
        (path / "notes.txt").write_text("mine")
    elif how == "dangling":
        path.symlink_to(path.parent / "nowhere")
    elif how == "another":
        shutil.copy(other, path)
    elif how == "types" and path.suffix in (".json", ".jsonl"):
        line = content.splitlines()[0] if path.suffix == ".jsonl" else content
        path.write_text(json.dumps(wrong_types(json.loads(line))))
    else:
        path.write_bytes(
            {
                "empty": b"",
                "cut": content[: len(content) // 2],
                "list": b"[1, 2]",
                "types": b'{"format": 1, "kind": 3}',
                "nested": DEEP.encode(),
                "noise": bytes(range(256)) * 4,
            }[how]
        )


def put_notes(folder):
    for name in NOTES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("mine")


def notes_are_there(folder):
    return all((folder / name).read_text() == "mine" for name in NOTES)


def require_sentence(error, *culprits):
    """One line, of an error that the command line shows as it is."""
    text = str(error)
    assert isinstance(error, OSError | ValueError), repr(error)
    assert not isinstance(error, TimeoutError)
    assert "\n" not in text
    assert any(str(culprit) in text for culprit in culprits), text


def tried(call, *culprits):
    """The result of a call, or ``None`` if it ended in one sentence."""
    try:
        return call()
    except Exception as error:
        require_sentence(error, *culprits)
        return None


# A study of two runs


PLAIN = MINIATURE | {
    "seeds": 2,
    "traces": {"n_observations": 4, "n_snapshots": 3},
    "training": MINIATURE["training"] | {"steps": 10},
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("finished") / "study"
    run_study(study_from_plain(PLAIN), folder, executor=InlineExecutor())
    return folder


@pytest.fixture
def study(finished, tmp_path):
    folder = shutil.copytree(finished, tmp_path / "study")
    put_notes(folder)
    return folder


def two_runs(folder):
    """Folders of the two runs, in the order of the study."""
    return [cell.files.path for cell in StudyFolder(folder).cells]


OF_TRAINING = (
    *("spec.json", "status.json", "history.jsonl", "model.json", "model.safetensors"),
    *("state.safetensors", "traces.safetensors"),
)
OF_RUN = (*OF_TRAINING, "run.json", "worker.json", "scores.json", "work.lock", "lock")


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", OF_RUN)
def test_the_run_of_a_damaged_file_is_computed_again(study, finished, name, how):
    run, other = two_runs(study)
    (run / "notes.txt").write_text("mine")
    damage(run / name, how, other / name)
    if name not in ("scores.json", "model.json", "model.safetensors"):
        # Of a finished run nobody would look at the file again.
        (run / "scores.json").unlink()
    end = run_study(study_from_plain(PLAIN), study, executor=InlineExecutor())
    assert (end.done, end.failed) == (2, 0)
    table = (study / "table.csv").read_bytes()
    assert table == (finished / "table.csv").read_bytes()
    twin = finished / "runs" / run.name
    assert (run / "model.safetensors").read_bytes() == (
        twin / "model.safetensors"
    ).read_bytes()
    assert notes_are_there(study)
    assert (run / "notes.txt").read_text() == "mine"
    if how == "folder":
        kept = [path for path in run.rglob("notes.txt") if path.parent != run]
        assert [path.read_text() for path in kept] == ["mine"]


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["study.yaml", "data.json", "table.csv"])
def test_a_damaged_file_of_a_study_is_written_again(study, finished, name, how):
    (study / "other.txt").write_text("text of another")
    damage(study / name, how, study / "other.txt")
    end = tried(
        lambda: run_study(study_from_plain(PLAIN), study, executor=InlineExecutor()),
        study,
    )
    if end is not None:
        assert (end.done, end.failed) == (2, 0)
        table = (study / "table.csv").read_bytes()
        assert table == (finished / "table.csv").read_bytes()
    assert notes_are_there(study)


READERS = {
    "load": load,
    "Run.load": Run.load,
    "Trace.load": Trace.load,
    "run_page": run_page,
}


@pytest.mark.parametrize(
    ("reader", "name", "how"),
    [
        *itertools.product(["load"], ["model.json", "model.safetensors"], DAMAGES),
        *itertools.product(["Run.load"], OF_TRAINING, DAMAGES),
        *itertools.product(["Trace.load"], ["traces.safetensors"], DAMAGES),
    ],
)
def test_readers_of_a_run_name_the_damaged_file(study, reader, name, how):
    run, other = two_runs(study)
    damage(run / name, how, other / name)
    tried(lambda: READERS[reader](run), name, run)


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize(
    "name", ["run.json", "spec.json", "status.json", "scores.json", "history.jsonl"]
)
def test_a_page_of_a_run_needs_none_of_its_small_files(study, name, how):
    run, other = two_runs(study)
    (run / "model.safetensors").unlink()  # whose pictures take long
    damage(run / name, how, other / name)
    assert run_page(run).title == run.name


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["scores.json", "worker.json", "failure.json"])
def test_table_status_and_prune_survive_a_damaged_file(study, name, how):
    run, other = two_runs(study)
    if name == "failure.json":
        words = {"format": 1, "kind": "failure", "id": "x", "error": "e", "type": "E"}
        for folder in (run, other):
            (folder / "scores.json").unlink()
            (folder / name).write_text(json.dumps(words))
    damage(run / name, how, other / name)
    table = study_table(study)
    assert len(table) == 2
    if name == "scores.json" and how == "another":
        assert "belong to run" in table["error"][0]
    assert len(study_status(study).runs) == 2
    prune(study, strangers=True)
    assert notes_are_there(study)


# A population


BRED = population(size=2, generations=2, images=40)


@pytest.fixture(scope="module")
def bred(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bred")
    spec = RunSpec.read(BRED, "test")
    return evolve(spec, folder, executor=InlineExecutor()), folder


OF_POPULATION = ("lineage.json", "winner/model.json", "winner/model.safetensors")


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", OF_POPULATION)
def test_a_damaged_population_is_bred_again(bred, tmp_path, name, how):
    result, source = bred
    folder = shutil.copytree(source, tmp_path / "bred")
    place = folder / result.population.folder.relative_to(source.resolve())
    (place / "notes.txt").write_text("mine")
    (tmp_path / "other.json").write_text('{"format": 1, "kind": "of another"}')
    damage(place / name, how, tmp_path / "other.json")
    if name == "lineage.json":
        tried(lambda: read_lineage(place), name)
    again = evolve(RunSpec.read(BRED, "test"), folder, executor=InlineExecutor())
    assert again.population.lineage == result.population.lineage
    assert (place / "notes.txt").read_text() == "mine"


# A discovery


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("found")
    plan_small(folder, lamps(), betas=(1,), steps=800)
    result = discover(lamps(), folder, executor=InlineExecutor())
    assert result.model is not None
    return folder


@pytest.fixture
def discovery(found, tmp_path, monkeypatch):
    # Drawing takes seconds, and reads nothing that the rest does not read.
    monkeypatch.setattr(_write_discovery, "_write_pages", lambda *_: None)
    folder = shutil.copytree(found, tmp_path / "found")
    (folder / "notes.txt").write_text("mine")
    (folder / "model" / "notes.txt").write_text("mine")
    return folder


OF_DISCOVERY = (
    *("plan.json", "discovery.json", "codes.npy", "summary.txt", "traversals.png"),
    *("model/model.json", "model/model.safetensors", "discover.lock"),
    *("study/study.yaml", "study/data.json", "study/agreement.npz"),
)


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", OF_DISCOVERY)
def test_a_damaged_file_of_a_discovery_is_written_again(discovery, name, how):
    (discovery / "other.txt").write_text("text of another")
    runs = discovery / "study" / "runs"
    before = {path: path.read_bytes() for path in runs.rglob("scores.json")}
    # The fixture's plan, in case that the one of the folder is what is damaged.
    plan = (discovery / "plan.json").read_bytes()
    damage(discovery / name, how, discovery / "other.txt")
    spoiled = discovery / name
    content = spoiled.read_bytes() if spoiled.is_file() else None
    if name == "plan.json":
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "unbraid.discovery._discover.make_plan",
                lambda *_, **__: restore(discovery, plan),
            )
            result = discover(lamps(), discovery, executor=InlineExecutor())
    else:
        result = tried(
            lambda: discover(lamps(), discovery, executor=InlineExecutor()),
            Path(name).name,
            discovery,
        )
    if result is not None:
        assert result.model is not None
        assert load(discovery / "model").n_latents == 4
        json.loads((discovery / "discovery.json").read_text())
    assert {path: path.read_bytes() for path in runs.rglob("scores.json")} == before
    assert (discovery / "notes.txt").read_text() == "mine"
    assert (discovery / "model" / "notes.txt").read_text() == "mine"
    is_result = name.split("/")[0] in (*OF_DISCOVERY[1:5], "model")
    if is_result and content is not None:
        kept = discovery / "history" / "1" / name
        assert kept.read_bytes() == content


def restore(folder, plan):
    """The plan that was there before, as a new timing might give another one."""
    from unbraid.discovery import read_plan

    (folder / "plan.json").write_bytes(plan)
    return read_plan(folder)


@pytest.mark.parametrize("how", DAMAGES)
@pytest.mark.parametrize("name", ["plan.json", "discovery.json", "model/model.json"])
def test_the_page_of_a_damaged_discovery_is_one_sentence(discovery, name, how):
    (discovery / "other.txt").write_text('{"format": 1, "kind": "of another"}')
    damage(discovery / name, how, discovery / "other.txt")
    page = discovery.parent / "page.html"
    tried(lambda: write_report(discovery, page), Path(name).name, discovery)
