"""No command deletes or overwrites a file that unbraid did not write.

Every output of every command is tried on names that are taken: by a file of the user,
a folder, a pipe, a device, or a link to one. The command must say so in one line, and
leave everything as it is.
"""

import errno
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest
from command_line import app
from miniature_study import MINIATURE
from small_discovery import SQUARES, plan_small
from typer.testing import CliRunner
from whole_command import run_whole

import unbraid
from unbraid.data import open_dataset
from unbraid.discovery import discover
from unbraid.execution import InlineExecutor
from unbraid.foundation import (
    atomic_write,
    delete_own_files,
    locked,
    printable_name,
    set_aside,
    write_yaml,
)
from unbraid.studies import (
    StudyFolder,
    prune,
    run_study,
    study_from_plain,
    study_table,
)

DATA = MINIATURE["data"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """A study of two runs, codes with factors, and points."""
    folder = tmp_path_factory.mktemp("base")
    plain = MINIATURE | {"seeds": 2}
    run_study(study_from_plain(plain), folder / "study", executor=InlineExecutor())
    run = StudyFolder(folder / "study").cells[0].files.path
    shutil.copytree(run, folder / "run")
    factors = np.stack(np.meshgrid(*[np.arange(8)] * 2), axis=-1).reshape(-1, 2)
    np.save(folder / "codes.npy", factors + 0.5)
    np.save(folder / "factors.npy", factors)
    np.save(folder / "points.npy", np.random.default_rng(0).normal(size=(80, 3)))
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def command(name, base, target):
    """Arguments of a command that writes to a target, and the file that is in its way.

    Args:
        name: Of the command.
        base: Folder of what it reads.
        target: File, or for some commands a folder, to write to.
    """
    codes = ["--codes", base / "codes.npy", "--factors", base / "factors.npy"]
    points = ["factorize", base / "points.npy", "-k", 2]
    distances = ["data", "distances", DATA, "--pairs", 50, "-o", target]
    return {
        "explore": (["explore", base / "run", "--data", DATA, "-o", target], target),
        "report": (["study", "report", base / "study", "-o", target], target),
        "table": (["study", "table", base / "study", "-o", target], target),
        "select": (
            ["study", "select", base / "study", "--scores", "elbo", "-o", target],
            target,
        ),
        "evaluate": (
            ["evaluate", *codes, "--metrics", "mig", "--no-levels", "--json", target],
            target,
        ),
        "factorize": ([*points, "-o", target], target),
        "bases": (
            [*points, "-o", target.with_name("new.png"), "--bases", target],
            target,
        ),
        "distances": (distances, target / "cumulative.png"),
        "matrices": (distances, target / "matrices.png"),
        "demo": (["demo", "-o", target], target / "datasets.png"),
        "reproduce": (
            ["reproduce", "michlo-table-4-2", "--preset", "smoke", "-o", target],
            target / "smoke" / "michlo-table-4-2" / "figure.png",
        ),
    }[name]


SUFFIXES = {
    **{"explore": ".html", "report": ".html", "table": ".csv", "evaluate": ".json"},
    **{"factorize": ".png", "bases": ".npz", "select": ".csv"},
}
COMMANDS = [*SUFFIXES, "distances", "matrices", "demo", "reproduce"]
OBSTACLES = ["text", "bytes", "empty", "folder", "pipe", "device", "link"]


def obstruct(path, how):
    """Put something of the user's at a path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if how == "folder":
        path.mkdir()
        (path / "mine.txt").write_text("mine")
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "device":
        path.symlink_to("/dev/null")
    elif how == "link":
        thesis = path.with_name("thesis.txt")
        thesis.write_text("mine")
        path.symlink_to(thesis)
    else:
        path.write_bytes(
            {"text": b"mine", "bytes": bytes(range(256)), "empty": b""}[how]
        )


def everything(folder):
    """All files below a folder, and what they are."""
    found = {}
    for path in sorted(folder.rglob("*")):
        kind = stat.S_IFMT(path.lstat().st_mode)
        is_file = stat.S_ISREG(kind)
        link = os.readlink(path) if path.is_symlink() else ""
        found[path] = kind, link, path.read_bytes() if is_file else b""
    return found


@pytest.mark.parametrize("how", OBSTACLES)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_in_the_way_of_an_output_stays_as_it_is(base, tmp_path, name, how):
    arguments, path = command(name, base, tmp_path / f"out{SUFFIXES.get(name, '')}")
    obstruct(path, how)
    before = everything(tmp_path)
    result = run(*arguments)
    assert result.exit_code != 0
    said = str(result.exception) if result.exit_code == 1 else result.output
    if name == "reproduce":
        said = result.output  # one claim that fails does not stop the others
    # Messages on wrong usage stand in a box, which may break a long path.
    assert str(path.name) in re.sub(r"[\s│]", "", said)
    assert result.exit_code == 2 or "\n" not in said.strip()
    assert everything(tmp_path) == before


@pytest.mark.parametrize("name", [*SUFFIXES, "distances"])
def test_an_earlier_output_is_replaced_and_a_full_disk_keeps_it(
    base, tmp_path, name, monkeypatch
):
    arguments, path = command(name, base, tmp_path / f"out{SUFFIXES.get(name, '')}")
    for _ in range(2):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
    before = everything(tmp_path)

    def full(number):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert run(*arguments).exit_code == 1
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("name", "target"),
    [
        ("evaluate", "run/scores.json"),
        ("evaluate", "run/model.json"),
        ("evaluate", "codes.npy"),
        ("explore", "run/model.safetensors"),
        ("explore", "run/history.jsonl"),
        ("report", "study/study.yaml"),
        ("report", "study/data.json"),
    ],
)
def test_no_output_takes_the_place_of_a_result(base, name, target):
    arguments, path = command(name, base, base / target)
    before = path.read_bytes()
    assert run(*arguments).exit_code == 1
    assert path.read_bytes() == before


# Folders


OF_TRAINING = (
    *("spec.json", "model.json", "model.safetensors", "state.safetensors"),
    *("history.jsonl", "traces.safetensors", "status.json"),
)


@pytest.mark.parametrize("name", OF_TRAINING)
def test_training_leaves_a_folder_of_somebody_else_alone(tmp_path, name):
    (tmp_path / name).write_text("mine")
    result = run("train", DATA, "--steps", 1, "--out", tmp_path, "--device", "cpu")
    assert result.exit_code == 1
    assert name in str(result.exception)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        name: "mine"
    }


@pytest.mark.parametrize(
    "name", ["data.json", "table.csv", "runs", "study.yaml", "thesis.tex", ".git"]
)
@pytest.mark.parametrize("is_folder", [False, True])
def test_a_study_leaves_a_folder_of_somebody_else_alone(tmp_path, name, is_folder):
    out = tmp_path / "out"
    obstruct(out / name, "folder" if is_folder else "text")
    before = everything(out)
    with pytest.raises(OSError, match=name) as caught:
        run_study(study_from_plain(MINIATURE), out, executor=InlineExecutor())
    assert "\n" not in str(caught.value)
    assert everything(out) == before


def test_a_study_file_with_comments_is_never_rewritten(tmp_path):
    file = tmp_path / "study.yaml"
    text = f"# my thesis\n{write_yaml(MINIATURE)}"
    file.write_text(text)
    end = run_study(study_from_plain(MINIATURE), tmp_path, executor=InlineExecutor())
    assert end.done == 1
    assert file.read_text() == text
    other = tmp_path / "other"
    other.mkdir()
    (other / "study.yaml").write_text(text)
    with pytest.raises(FileExistsError, match="study.yaml"):
        run_study(
            study_from_plain(MINIATURE | {"seeds": 2}), other, executor=InlineExecutor()
        )
    assert (other / "study.yaml").read_text() == text


OF_DISCOVERY = (
    *("plan.json", "model", "codes.npy", "files.txt", "traversals.png", "study"),
    *("summary.txt", "explorer.html", "report.html", "discovery.json"),
)


@pytest.mark.parametrize("name", OF_DISCOVERY)
@pytest.mark.parametrize("how", ["text", "folder"])
def test_a_discovery_leaves_a_folder_of_somebody_else_alone(tmp_path, name, how):
    obstruct(tmp_path / name, how)
    before = everything(tmp_path)
    with pytest.raises(FileExistsError, match=name):
        discover(SQUARES, tmp_path)
    assert everything(tmp_path) == before


# Starting, and being killed while starting


LEFT_BY_A_KILL = {
    "nothing but the folder": [],
    "runs, as earlier versions made them first": ["runs/"],
    "half of data.json": [f".data.json.{16 * 'a'}.part"],
    "half of study.yaml": ["runs/", f".study.yaml.{16 * 'a'}.part"],
    "data.json without a study": ["runs/", "data.json"],
}


@pytest.mark.parametrize("left", LEFT_BY_A_KILL)
def test_a_study_that_was_killed_as_it_began_goes_on(base, tmp_path, left):
    for name in LEFT_BY_A_KILL[left]:
        if name.endswith("/"):
            (tmp_path / name).mkdir()
        elif name == "data.json":
            shutil.copy(base / "study" / name, tmp_path / name)
        else:
            (tmp_path / name).touch()
    end = run_study(study_from_plain(MINIATURE), tmp_path, executor=InlineExecutor())
    assert end.done == 1


@pytest.mark.parametrize("number", range(6))
def test_a_study_whose_disk_was_full_at_the_start_goes_on(
    tmp_path, monkeypatch, number
):
    flush, calls = os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) == number + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(file)

    monkeypatch.setattr(os, "fsync", full)
    study = study_from_plain(MINIATURE)
    with pytest.raises(OSError, match="No space left"):
        run_study(study, tmp_path, executor=InlineExecutor())
    monkeypatch.undo()
    assert run_study(study, tmp_path, executor=InlineExecutor()).done == 1


@pytest.mark.parametrize("number", range(4))
def test_a_discovery_whose_disk_was_full_goes_on(tmp_path, monkeypatch, number):
    plan_small(tmp_path, betas=(1_000,), steps=1, seeds=2)
    monkeypatch.setattr(
        "unbraid.discovery._write_discovery._write_pages", lambda *_: None
    )
    flush, calls = os.fsync, []

    def full(file):
        calls.append(file)
        if len(calls) == number + 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        flush(file)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            discover(SQUARES, tmp_path, executor=InlineExecutor())
    result = discover(SQUARES, tmp_path, executor=InlineExecutor())
    assert result.summary.is_file()


def test_a_second_discovery_in_a_folder_is_refused_in_a_sentence(tmp_path):
    plan_small(tmp_path, betas=(1_000,), steps=1, seeds=2)
    before = set(everything(tmp_path))
    with locked(tmp_path / "discover.lock") as is_ours:
        assert is_ours
        done = run_whole("discover", SQUARES, "-o", tmp_path)
    assert done.returncode == 1
    assert "another process works in" in done.stderr
    assert set(everything(tmp_path)) - before == {tmp_path / "discover.lock"}


# Results of another run


@pytest.mark.parametrize("names", [["scores.json"], ["model.json", "model.safetensors"],
                                   ["model.safetensors"], ["model.json"]])  # fmt: skip
def test_results_of_another_run_do_not_go_into_the_table(base, tmp_path, names):
    folder = shutil.copytree(base / "study", tmp_path / "study")
    whole = (folder / "table.csv").read_bytes()
    one, other = (cell.files.path for cell in StudyFolder(folder).cells)
    for name in names:
        shutil.copy(other / name, one / name)
    table = study_table(folder)
    assert list(table["status"]) == ["failed", "done"]
    assert one.name in table["error"][0]
    plain = MINIATURE | {"seeds": 2}
    run_study(study_from_plain(plain), folder, executor=InlineExecutor())
    assert (folder / "table.csv").read_bytes() == whole
    for path in (one, other):
        unbraid.training.Run.load(path)


def test_a_folder_of_an_earlier_version_is_not_computed_again(base, tmp_path):
    folder = shutil.copytree(base / "study", tmp_path / "study")
    times = {}
    for path in [*folder.rglob("scores.json"), *folder.rglob("model.json")]:
        words = json.loads(path.read_text())
        for name in ("model", "run", "weights"):
            words.pop(name, None)
        path.write_text(json.dumps(words))
        times[path] = path.stat().st_mtime_ns
    for path in folder.rglob("model.safetensors"):
        rewrite_without_hash(path)
    study = study_from_plain(MINIATURE | {"seeds": 2})
    assert run_study(study, folder, executor=InlineExecutor()).done == 2
    assert {path: path.stat().st_mtime_ns for path in times} == times
    for cell in StudyFolder(folder).cells:
        unbraid.training.Run.load(cell.files.path)


def rewrite_without_hash(path):
    from unbraid.training._tensor_file import read_tensors, write_tensors

    tensors, _ = read_tensors(path, kind="model")
    write_tensors(path, tensors, kind="model")


# Names that are not text


def test_a_run_in_a_folder_that_is_not_utf_8_is_sound(tmp_path):
    out = tmp_path / os.fsdecode(b"caf\xe9\nx")
    run = unbraid.fit("vae", open_dataset(DATA), steps=2, n_latents=2, out=out)
    again = unbraid.fit("vae", open_dataset(DATA), steps=2, n_latents=2, out=out)
    assert again.spec == run.spec
    assert unbraid.load(out).n_latents == 2


def test_the_command_line_works_in_a_folder_that_is_not_utf_8(tmp_path):
    out = os.fsencode(tmp_path) + b"/caf\xe9"
    command = [sys.executable.encode(), b"-m", b"unbraid", b"train", DATA.encode()]
    command += [b"--steps", b"2", b"--device", b"cpu", b"--out", out]
    for more in ([], [b"--json"]):
        done = subprocess.run([*command, *more], capture_output=True)
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr
    assert os.fsdecode(out) == json.loads(done.stdout)["folder"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("a.png", "a.png"),
        ("two\nlines.png", r"two\nlines.png"),
        ("back\\slash.png", r"back\\slash.png"),
        ("\udcff.png", r"\xff.png"),
        ("\x85\u2028\r.png", r"\u0085\u2028\r.png"),
        ("ä b.png", "ä b.png"),
    ],
)
def test_every_name_is_one_line(name, line):
    assert printable_name(name) == line
    assert len(line.encode().decode().splitlines()) == 1


# The helpers


def test_what_is_set_aside_keeps_its_content_and_its_predecessors(tmp_path):
    for content in ("one", "two", "three"):
        (tmp_path / "a.json").write_text(content)
        set_aside(tmp_path / "a.json")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.json.damaged": "one",
        "a.json.damaged-2": "two",
        "a.json.damaged-3": "three",
    }
    assert set_aside(tmp_path / "nothing") is None


def test_only_files_that_were_made_are_deleted(tmp_path):
    (tmp_path / "run").mkdir()
    for name in ("model.json", "notes.txt"):
        (tmp_path / "run" / name).write_text("x")
    assert delete_own_files(tmp_path / "run", ["model.json"]) == 1
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["notes.txt"]


def test_pruning_strangers_deletes_runs_and_nothing_else(base, tmp_path):
    folder = shutil.copytree(base / "study", tmp_path / "study")
    one, other = (cell.files.path for cell in StudyFolder(folder).cells)
    run_study(study_from_plain(MINIATURE), folder, executor=InlineExecutor())
    for name in ("my notes", "0123456789abcdef"):
        (folder / "runs" / name).mkdir()
        (folder / "runs" / name / "notes.txt").write_text("mine")
    shutil.copytree(other, folder / "runs" / "copy of a run")
    (other / "notes.txt").write_text("mine")
    assert prune(folder, strangers=True).n_strangers == 1
    assert [path.name for path in other.iterdir()] == ["notes.txt"]
    assert (one / "scores.json").is_file()
    assert (folder / "runs" / "copy of a run" / "scores.json").is_file()
    for name in ("my notes", "0123456789abcdef"):
        assert (folder / "runs" / name / "notes.txt").read_text() == "mine"


def test_leftovers_are_deleted_by_their_whole_name_only(tmp_path):
    ours, theirs = f".a.json.{16 * 'f'}.part", ".a.json.backup.part"
    for name in (ours, theirs):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (0, 0))
    with atomic_write(tmp_path / "a.json") as file:
        file.write(b"{}")
    assert sorted(path.name for path in tmp_path.iterdir()) == [theirs, "a.json"]


@pytest.mark.parametrize("output", ["scores", "table", "page", "figure", "bases"])
@pytest.mark.parametrize("exists", [True, False])
def test_a_link_as_output_stays_a_link(base, tmp_path, output, exists):
    ends = {"scores": "json", "table": "csv", "page": "html", "figure": "png"}
    name = f"out.{ends.get(output, 'npz')}"
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / name, tmp_path / name
    points = ("factorize", base / "points.npy", "--dimension", 3)
    codes = ("--codes", base / "codes.npy", "--metrics", "gaussian_total_correlation")
    command = {
        "scores": ("evaluate", *codes, "--json"),
        "table": ("study", "table", base / "study", "-o"),
        "page": ("explore", base / "run", "--data", DATA, "-o"),
        "figure": (*points, "-o"),
        "bases": (*points, "-o", tmp_path / "spectrum.png", "--bases"),
    }[output]
    if exists:
        assert run(*command, target).exit_code == 0
        os.utime(target, (0, 0))
    link.symlink_to(target)
    result = run(*command, link)
    assert result.exit_code == 0, result.output
    assert link.is_symlink()
    assert target.stat().st_mtime > 0


def test_a_full_disk_is_reported_with_the_file(tmp_path):
    error = OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(OSError, match="No space"), atomic_write(tmp_path / "a.json"):
        raise error
    assert error.filename == str(tmp_path / "a.json")


@pytest.mark.parametrize("letter", ["a", "é"])
def test_names_as_long_as_the_system_allows_can_be_written(tmp_path, letter):
    target = tmp_path / f"{letter * (250 // len(letter.encode()))}.json"
    with atomic_write(target) as file:
        file.write(b"{}")
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@pytest.fixture(autouse=True)
def _time_limit():
    def stop(*_):
        raise TimeoutError("more than 60 seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)
