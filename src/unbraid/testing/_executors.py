"""What every executor must keep, as one function that anyone can call on theirs."""

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
"""Steps of runs that are over soon, and of runs that something may happen to."""

_EXIT_SECONDS = 10.0
"""Time in which a worker that was told to exit must be gone."""

_GAP_SECONDS = 5.0
"""Without news: one second was promised, but the machine may be busy."""


def check_executor(make: Callable[[], AbstractExecutor], folder: Path) -> None:
    """Check that an executor keeps the contract of ``AbstractExecutor``.

    Miniature runs are computed in a folder, some of which fail, are interrupted, or
    lose their worker, and compared with the same runs in this process.

    Args:
        make: A new executor, whose workers are processes of this machine.
        folder: An empty one, that the workers see.

    Raises:
        AssertionError: With a sentence that says which promise is broken.
    """
    _check_ends(_Trial(make, folder / "ends"))
    stopped = _check_stop(_Trial(make, folder / "stop"))
    _check_death(_Trial(make, folder / "death"), stopped)


class _JobList:
    """Jobs in a row, until it is closed; none is tried again."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self._jobs = deque(jobs)
        self.is_over = False

    def take(self) -> Job | None:
        job = None if self.is_over or not self._jobs else self._jobs.popleft()
        self.is_over = self.is_over or not self._jobs
        return job


class _Trial:
    """Jobs, and what an executor says of them."""

    def __init__(self, make: Callable[[], AbstractExecutor], folder: Path) -> None:
        self._make = make
        self.folder = folder.resolve()
        self.told: list[Event] = []

    def job(self, seed: int, *, steps: int = _SHORT) -> Job:
        """A run of its own for every seed."""
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
        """What happens, until the jobs are over or the caller closes this."""
        executor = self._make()
        _require(executor.n_workers >= 1, "there is at least one worker")
        with contextlib.closing(executor.run(_JobList(jobs))) as stream:
            last = None
            for news in stream:
                gap = 0.0 if last is None else time.monotonic() - last
                _require(gap < _GAP_SECONDS, "there is news every second")
                self.told.append(news)
                yield news, executor
                last = time.monotonic()

    def ends(self) -> dict[str, Outcome]:
        """How each job ended, by its id, after a check that it did so once."""
        begun, ends = Counter[str](), Counter[str]()
        outcomes = {}
        for news in self.told:
            if news.kind == "quiet":
                continue
            _require(news.job is not None, f"{news.kind!r} says which job")
            assert news.job is not None
            begun[news.job.id] += news.kind == "begun"
            _require(begun[news.job.id] == 1, "every job begins once, before all else")
            _require(ends[news.job.id] == 0, "every job ends once, and is over then")
            if news.kind == "ended":
                _require(news.outcome is not None, "an end says how")
                assert news.outcome is not None
                ends[news.job.id] += 1
                outcomes[news.job.id] = news.outcome
        return outcomes


def _check_ends(trial: _Trial) -> None:
    jobs = [trial.job(seed) for seed in range(4)]
    impossible = trial.job(4)
    impossible.spec["fingerprint"] = "of other data"
    for _ in trial.run([jobs[0], impossible, *jobs[1:]]):
        pass
    ends = trial.ends()
    for job in (impossible, *jobs):
        _require(job.id in ends, "every job ends")
    _require(ends[impossible.id].end == "failed", "a job that raises ends as 'failed'")
    _require(bool(ends[impossible.id].message), "a failure has a reason")
    for job in jobs:
        _require(ends[job.id].end == "done", "the other jobs end as 'done'")
    _require_same(jobs[-1], trial.folder / "here")
    _require_gone(jobs, "when all jobs are over, the workers are gone")


def _check_stop(trial: _Trial) -> Job:
    """Returns a job that was stopped."""
    job = trial.job(0, steps=_LONG)
    is_stopped = False
    for _, executor in trial.run([job]):
        if not is_stopped and _has_begun(job):
            is_stopped = True
            executor.stop()
    end = trial.ends()[job.id].end
    _require(end == "interrupted", f"a stopped job ends as 'interrupted', not {end!r}")
    place = JobFiles(Path(job.folder))
    _require(place.training_state.is_file(), "a stopped job saves its state")
    _require(not (place.path / "scores.json").exists(), "a stopped job has no scores")
    _require_gone([job], "when it was stopped, a worker goes")
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
        "a job whose worker is killed ends as 'died'",
    )
    for job in others:
        _require(
            job.id in ends and ends[job.id].end == "done",
            "no other job is harmed by that, and later ones are done",
        )
    _require_same(stopped, trial.folder / "here")
    _require_gone([*others, last], "when the news is closed, all workers are gone")


def _has_begun(job: Job) -> bool:
    history = Path(job.folder) / "history.jsonl"
    return history.is_file() and history.stat().st_size > 0


def _worker(job: Job) -> int:
    return read_json(JobFiles(Path(job.folder)).worker, kind="worker")["pid"]


def _require_same(job: Job, folder: Path) -> None:
    """The same files as in this process, which has a thread at its disposal as well."""
    here = dataclasses.replace(job, folder=str(folder))
    with torch_threads(1), threadpoolctl.threadpool_limits(1):
        work(here)
    for name in ("model.safetensors", "scores.json"):
        there = Path(job.folder) / name
        is_same = there.is_file() and there.read_bytes() == (folder / name).read_bytes()
        _require(is_same, f"{name} has the same bytes as in this process")


def _require_gone(jobs: Iterable[Job], promise: str) -> None:
    for job in jobs:
        pid = _worker(job)
        if pid == os.getpid():
            continue  # the job ran in this process, not in a worker
        # A busy machine takes a moment to end a process that was told to exit.
        deadline = time.monotonic() + _EXIT_SECONDS
        while _is_alive(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
        _require(not _is_alive(pid), promise)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with contextlib.suppress(OSError):
        # Dead, but not yet asked after by whoever has inherited it.
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return True


def _require(kept: bool, promise: str) -> None:
    if not kept:
        raise AssertionError(f"check_executor: expected that {promise}.")
