"""What may go wrong around a study, and what is left of it then."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from miniature_study import MINIATURE

from unbraid.execution import AbstractExecutor, Event, InlineExecutor, Outcome
from unbraid.foundation import NewerFormatError, write_yaml
from unbraid.studies import run_study, study_from_plain, study_status, study_table


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Folder of a study of three runs that nothing happened to."""
    folder = tmp_path_factory.mktemp("finished") / "study"
    study = study_from_plain(MINIATURE | {"seeds": 3})
    run_study(study, folder, executor=InlineExecutor())
    return folder


@pytest.fixture
def undisturbed(finished):
    """Its table."""
    return (finished / "table.csv").read_bytes()


@pytest.fixture
def study(finished, tmp_path):
    """A copy of it, for things to happen to."""
    return shutil.copytree(finished, tmp_path / "study")


def one_run(folder):
    return sorted((folder / "runs").iterdir())[0]


class Scripted(AbstractExecutor):
    """Lets every job end as the script says, then as done."""

    n_workers = 1

    def __init__(self, *ends):
        self._ends = list(ends)
        self.begun = []

    def run(self, jobs):
        while not jobs.is_over:
            job = jobs.take()
            if job is None:
                yield Event("quiet")
                continue
            self.begun.append(job.id)
            end = self._ends.pop(0) if self._ends else "done"
            yield Event("ended", job, Outcome(job.id, end, "killed"))

    def stop(self):
        self._ends = ["interrupted"] * 100


def test_a_full_disk_stops_the_study_with_a_sentence_and_loses_nothing(
    tmp_path, run_here, undisturbed, monkeypatch
):
    written = os.fsync

    def full_after_a_run(number):
        if list(tmp_path.glob("study/runs/*/scores.json")):
            raise OSError(errno.ENOSPC, "No space left on device")
        written(number)

    monkeypatch.setattr(os, "fsync", full_after_a_run)
    with pytest.raises(OSError, match=r"No space left.*continue with the same command"):
        run_here(seeds=3)
    monkeypatch.undo()
    counts = study_status(tmp_path / "study").counts
    assert (counts["done"], counts["failed"]) == (1, 0)
    run_here(seeds=3)
    assert (tmp_path / "study" / "table.csv").read_bytes() == undisturbed


@pytest.mark.parametrize(
    "name",
    [
        "scores.json",
        "spec.json",
        "status.json",
        "run.json",
        "worker.json",
        "model.json",
        "model.safetensors",
        "history.jsonl",
    ],
)
@pytest.mark.parametrize("damage", ["cut", "noise", "empty"])
def test_a_damaged_file_costs_its_own_run_some_work_and_no_other(
    study, run_here, undisturbed, name, damage
):
    path = one_run(study) / name
    content = path.read_bytes()
    half = content[: len(content) // 2]
    path.write_bytes({"cut": half, "noise": b"\xff\x00{", "empty": b""}[damage])
    if name != "scores.json":  # otherwise nobody would look at it again
        (path.parent / "scores.json").unlink()
    end = run_here(seeds=3)
    assert (end.done, end.failed) == (3, 0)
    assert (study / "table.csv").read_bytes() == undisturbed


@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_a_corrupt_state_is_begun_afresh(study, run_here, undisturbed, damage):
    run = one_run(study)
    state = run / "state.safetensors"
    content = state.read_bytes()
    middle = len(content) // 2
    noisy = content[:middle] + bytes(64) + content[middle + 64 :]
    state.write_bytes(content[:middle] if damage == "cut" else noisy)
    for name in ("scores.json", "status.json", "model.json"):
        (run / name).unlink()
    assert run_here(seeds=3).done == 3
    assert (study / "table.csv").read_bytes() == undisturbed


def test_a_run_whose_workers_die_again_and_again_fails_and_the_others_go_on(
    tmp_path, plain
):
    study = study_from_plain(plain | {"seeds": 2})
    executor = Scripted("died", "died", "died")
    end = run_study(study, tmp_path / "study", executor=executor)
    first, second = (cell.id for cell in _cells(tmp_path / "study"))
    assert executor.begun == [first, first, first, second]
    assert end.failed == 1
    table = study_table(tmp_path / "study")
    assert table["error"].iloc[0] == "3 times in a row killed"


def test_a_run_whose_worker_dies_once_is_tried_again(tmp_path, plain):
    study = study_from_plain(plain | {"seeds": 1})
    executor = Scripted("died", "done")
    run_study(study, tmp_path / "study", executor=executor)
    assert len(executor.begun) == 2
    assert study_status(tmp_path / "study").counts["failed"] == 0


def test_a_run_that_another_process_works_on_is_asked_for_again_later(
    tmp_path, plain, monkeypatch
):
    monkeypatch.setattr("unbraid.execution._queue._RETRY_SECONDS", 0.01)
    study = study_from_plain(plain | {"seeds": 2})
    executor = Scripted("busy", "done", "done")
    run_study(study, tmp_path / "study", executor=executor)
    first, second = (cell.id for cell in _cells(tmp_path / "study"))
    assert executor.begun == [first, second, first]


def _cells(folder):
    from unbraid.studies import StudyFolder

    return StudyFolder(folder).cells


def test_two_commands_on_one_folder_share_the_work(tmp_path, plain, run_here):
    plain = plain | {"seeds": 8, "training": plain["training"] | {"steps": 200}}
    file = tmp_path / "study.yaml"
    file.write_text(write_yaml(plain))
    command = [sys.executable, "-m", "unbraid", "study", "run", str(file)]
    command += ["--workers", "1"]
    both = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=120)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    # A worker writes its name into every run that it trains.
    workers = [
        json.loads(path.read_text())["pid"]
        for path in (tmp_path / "study" / "runs").glob("*/worker.json")
    ]
    assert len(workers) == 8
    assert len(set(workers)) == 2
    run_here(tmp_path / "alone", **plain)
    shared, alone = (tmp_path / name / "table.csv" for name in ("study", "alone"))
    assert shared.read_bytes() == alone.read_bytes()


@pytest.mark.parametrize("name", ["study.yaml", "scores.json", "spec.json"])
def test_a_folder_of_a_newer_version_is_left_alone(study, run_here, name):
    path = study / name if name == "study.yaml" else one_run(study) / name
    path.write_text(path.read_text().replace("format: 1", "format: 2"))
    path.write_text(path.read_text().replace('"format": 1', '"format": 2', 1))
    changed = path.read_bytes()
    if name == "spec.json":
        (path.parent / "scores.json").unlink()
        assert run_here(seeds=3).failed == 1
        errors = study_table(study)["error"]
        assert errors.str.contains("Update unbraid").sum() == 1
    else:
        with pytest.raises(NewerFormatError, match="Update unbraid"):
            run_here(seeds=3)
    assert path.read_bytes() == changed


def test_a_folder_of_something_else_is_left_alone(tmp_path, run_here):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "thesis.tex").write_text("x")
    with pytest.raises(FileExistsError, match="holds something else"):
        run_here()
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["thesis.tex"]


def test_data_that_change_make_new_runs(tmp_path, run_here):
    import numpy as np

    path = tmp_path / "pictures.npy"
    images = np.random.default_rng(0).integers(0, 255, (2, 40, 8, 8), dtype=np.uint8)
    for version in images:
        from unbraid.data import open_cached

        open_cached.cache_clear()
        np.save(path, version)
        run_here(data=str(path), evaluation={"metrics": ["active_units"]})
    assert len(list((tmp_path / "study" / "runs").iterdir())) == 2
    assert len(study_table(tmp_path / "study")) == 1


def test_a_study_that_is_not_there_is_said_so():
    with pytest.raises(FileNotFoundError, match="study run"):
        study_status(Path("no such study"))
