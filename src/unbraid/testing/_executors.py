"""check_executor: the conformance suite of executors."""

import contextlib
import dataclasses
import os
import signal
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable
from pathlib import Path

import threadpoolctl

from unbraid.data import open_cached
from unbraid.execution import AbstractExecutor, Event, Job, JobFiles, Outcome, work
from unbraid.foundation import read_json
from unbraid.studies import RunSpec, StudyFolder, make_job
from unbraid.training import torch_threads

_DATA = "xy_squares:image_size=8,square_size=1,n_squares=1,rgb=false"
_SHORT, _LONG = 100, 2_500
"""Steps of runs that end soon, and of runs that are interrupted."""

_EXIT_SECONDS = 10.0
"""Time within which a worker must exit."""

_GAP_SECONDS = 5.0
"""Longest time without events: one second is required, but machines may be busy."""


def check_executor(make: Callable[[], AbstractExecutor], folder: Path) -> None:
    """Check that an executor fulfills the contract of ``AbstractExecutor``.

    Miniature runs are computed, some of which fail, are interrupted, or lose their
    worker, and compared with the same runs in this process.

    Args:
        make: Function that returns a new executor, whose workers are processes of this
            machine.
        folder: Empty folder that the workers can access.

    Raises:
        AssertionError: If a requirement is violated; the message says which.
    """
    _check_ends(_Trial(make, folder / "ends"))
    stopped = _check_stop(_Trial(make, folder / "stop"))
    _check_death(_Trial(make, folder / "death"), stopped)


class _JobList:
    """A queue of jobs without retries."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = deque(jobs)
        self.is_over = False

    def take(self) -> Job | None:
        job = None if self.is_over or not self._jobs else self._jobs.popleft()
        self.is_over = self.is_over or not self._jobs
        return job


class _Trial:
    """Jobs, and the events of an executor."""

    def __init__(self, make: Callable[[], AbstractExecutor], folder: Path) -> None:
        self._make = make
        self.folder = folder.resolve()
        self.events: list[Event] = []

    def job(self, seed: int, *, steps: int = _SHORT) -> Job:
        """Return the job of a run with this seed."""
        plain = {
            "data": _DATA,
            "objective": "vae",
            "network": {"name": "dense", "widths": [16]},
            "training": {
                "steps": steps,
                "n_latents": 3,
                "batch_size": 16,
                "log_every": 20,
            },
            "evaluation": {"metrics": ["mig"], "rows": 200},
            "seed": seed,
        }
        spec = RunSpec.read(plain, "check_executor")
        fingerprint = open_cached(_DATA).fingerprint
        (cell,) = StudyFolder(self.folder).cells_of([spec], {_DATA: fingerprint})
        cell.files.path.parent.mkdir(parents=True, exist_ok=True)
        return make_job(cell, fingerprint)

    def run(self, jobs: Iterable[Job]) -> Generator[tuple[Event, AbstractExecutor]]:
        """Yield events until all jobs have ended or the caller closes the generator."""
        executor = self._make()
        _require(executor.n_workers >= 1, "there must be at least one worker")
        with contextlib.closing(executor.run(_JobList(jobs))) as stream:
            last = None
            for event in stream:
                gap = 0.0 if last is None else time.monotonic() - last
                _require(gap < _GAP_SECONDS, "there must be an event every second")
                self.events.append(event)
                yield event, executor
                last = time.monotonic()

    def ends(self) -> dict[str, Outcome]:
        """Return the outcome of each job by id, after checking that it ended once."""
        begun, ends = Counter[str](), Counter[str]()
        outcomes = {}
        for event in self.events:
            if event.kind == "quiet":
                continue
            _require(event.job is not None, f"{event.kind!r} must name its job")
            assert event.job is not None
            begun[event.job.id] += event.kind == "begun"
            _require(begun[event.job.id] == 1, "every job must begin once, and first")
            _require(ends[event.job.id] == 0, "every job must end once, and last")
            if event.kind == "ended":
                _require(event.outcome is not None, "an end must have an outcome")
                assert event.outcome is not None
                ends[event.job.id] += 1
                outcomes[event.job.id] = event.outcome
        return outcomes


def _check_ends(trial: _Trial) -> None:
    jobs = [trial.job(seed) for seed in range(4)]
    impossible = trial.job(4)
    impossible.spec["fingerprint"] = "of other data"
    for _ in trial.run([jobs[0], impossible, *jobs[1:]]):
        pass
    ends = trial.ends()
    for job in (impossible, *jobs):
        _require(job.id in ends, "every job must end")
    _require(
        ends[impossible.id].end == "failed", "a job that raises must end as 'failed'"
    )
    _require(bool(ends[impossible.id].message), "a failure must have a reason")
    for job in jobs:
        _require(ends[job.id].end == "done", "the other jobs must end as 'done'")
    _require_same(jobs[-1], trial.folder / "here")
    _require_gone(jobs, "workers must exit when all jobs have ended")


def _check_stop(trial: _Trial) -> Job:
    """Check that jobs can be stopped, and return a stopped job."""
    job = trial.job(0, steps=_LONG)
    is_stopped = False
    for _, executor in trial.run([job]):
        if not is_stopped and _has_begun(job):
            is_stopped = True
            executor.stop()
    end = trial.ends()[job.id].end
    _require(
        end == "interrupted", f"a stopped job must end as 'interrupted', not {end!r}"
    )
    files = JobFiles(Path(job.folder))
    _require(files.training_state.is_file(), "a stopped job must save its state")
    has_scores = (files.path / "scores.json").exists()
    _require(not has_scores, "a stopped job must have no scores")
    _require_gone([job], "a worker must exit when it is stopped")
    return job


def _check_death(trial: _Trial, stopped: Job) -> None:
    victim, last = trial.job(1, steps=_LONG), trial.job(2, steps=_LONG)
    others = [stopped, *(trial.job(seed) for seed in range(3, 6))]
    is_killed = False
    stream = trial.run([victim, *others, last])
    for _ in stream:
        if not is_killed and _has_begun(victim):
            is_killed = True
            os.kill(_worker(victim), signal.SIGKILL)
        ends = trial.ends()
        if all(job.id in ends for job in (victim, *others)) and _has_begun(last):
            break
    stream.close()
    ends = trial.ends()
    _require(
        victim.id in ends and ends[victim.id].end == "died",
        "a job whose worker is killed must end as 'died'",
    )
    for job in others:
        _require(
            job.id in ends and ends[job.id].end == "done",
            "all other jobs must be done",
        )
    _require_same(stopped, trial.folder / "here")
    _require_gone([*others, last], "workers must exit when the events are closed")


def _has_begun(job: Job) -> bool:
    history = Path(job.folder) / "history.jsonl"
    return history.is_file() and history.stat().st_size > 0


def _worker(job: Job) -> int:
    return read_json(JobFiles(Path(job.folder)).worker, kind="worker")["pid"]


def _require_same(job: Job, folder: Path) -> None:
    """Check that files are the same as those of this process with one thread."""
    here = dataclasses.replace(job, folder=str(folder))
    with torch_threads(1), threadpoolctl.threadpool_limits(1):
        work(here)
    for name in ("model.safetensors", "scores.json"):
        there = Path(job.folder) / name
        is_same = there.is_file() and there.read_bytes() == (folder / name).read_bytes()
        _require(is_same, f"{name} must have the same bytes as in this process")


def _require_gone(jobs: Iterable[Job], requirement: str) -> None:
    for job in jobs:
        pid = _worker(job)
        if pid == os.getpid():
            continue  # the job ran in this process, not in a worker
        # A busy machine takes a moment to end a process.
        deadline = time.monotonic() + _EXIT_SECONDS
        while _is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        _require(not _is_alive(pid), requirement)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        # A zombie is dead, but its parent has not noticed yet.
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return True


def _require(is_true: bool, requirement: str) -> None:
    if not is_true:
        raise AssertionError(f"check_executor: {requirement}.")
