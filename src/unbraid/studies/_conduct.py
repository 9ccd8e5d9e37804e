"""run_study: whatever is missing of a study, until nothing is."""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from unbraid.training._interruption import deferred_interruption

from ._opened import opened
from ._queue import JobQueue
from ._store import StudyFolder
from ._sweep import Study
from ._table import write_table
from ._work import Job
from .executors import AbstractExecutor, LocalExecutor, News


class Audience(Protocol):
    """Whoever wants to see how a study gets on."""

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """A study begins, or goes on."""
        ...

    def hear(self, news: News) -> None:
        """Something happened."""
        ...


@dataclass(frozen=True)
class StudyEnd:
    """How a study ended.

    Attributes:
        done: Runs with scores.
        failed: Runs without, each for a reason of its own.
        left: Runs that are still to be done, after an interruption.
        reason: Why some are left; empty if none are.
    """

    done: int
    failed: int
    left: int
    reason: str = ""


class _Nobody:
    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        del n_runs, n_done, n_workers

    def hear(self, news: News) -> None:
        del news


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    executor: AbstractExecutor | None = None,
    loggers: Sequence[str] = (),
    device: str = "cpu",
    audience: Audience | None = None,
) -> StudyEnd:
    """Do what is missing of a study, and write its table.

    Runs that are done are not done again, runs that were broken off go on from their
    last state, and runs that failed are left alone (see :func:`retry_failed`). Several
    processes may do this with one folder at once: they share the runs.

    Ctrl-C, or SIGTERM, ends every run after its step, saves it, and returns; a second
    one breaks off.

    Args:
        study: What to do.
        out: Folder of the study.
        executor: Where to compute; on the cores of this machine when not given.
        loggers: Names of loggers that every run reports to.
        device: Where each run computes.
        audience: Told of everything that happens.

    Returns:
        How many runs are done, have failed, and are left.

    Raises:
        OSError: If the disk is full or cannot be written; what is done stays.
    """
    folder = StudyFolder(out)
    jobs = _plan(folder, study, loggers, device)
    executor = executor or LocalExecutor()
    audience = audience or _Nobody()
    n_runs = len(folder.cells)
    audience.begin(
        n_runs=n_runs, n_done=n_runs - len(jobs), n_workers=executor.n_workers
    )
    queue = JobQueue(jobs)
    blocked = _conduct(queue, executor, audience) if jobs else ""
    write_table(folder)
    counts = folder.counts()
    left = n_runs - counts["done"] - counts["failed"]
    if blocked:
        raise OSError(
            f"study: expected a disk that can be written, got: {blocked} What is done "
            "stays; the same command goes on when there is room."
        )
    return StudyEnd(
        done=counts["done"],
        failed=counts["failed"],
        left=left,
        reason="interrupted" if left else "",
    )


def retry_failed(out: str | os.PathLike[str]) -> int:
    """Forget why runs failed, so that the study tries them again.

    Returns:
        How many there were.
    """
    folder = StudyFolder(out)
    states = folder.states()
    failed = [cell for cell in folder.cells if states[cell.id] == "failed"]
    for cell in failed:
        cell.place.failure.unlink(missing_ok=True)
    return len(failed)


def prepare_folder(folder: StudyFolder, study: Study) -> dict[str, str]:
    """Open the data of a study, and write down what the study is.

    Returns:
        Fingerprint of every dataset, by what the study calls it.
    """
    # Opened here first: what has to be converted is converted once, before the workers
    # look for it.
    names = dict.fromkeys(spec.data for spec in study.runs())
    fingerprints = {name: opened(name).fingerprint for name in names}
    folder.write(study, fingerprints)
    return fingerprints


def _plan(
    folder: StudyFolder, study: Study, loggers: Sequence[str], device: str
) -> list[Job]:
    fingerprints = prepare_folder(folder, study)
    for cell in folder.cells:
        cell.place.forget_damaged()
    states = folder.states()
    missing = [
        cell for cell in folder.cells if states[cell.id] not in ("done", "failed")
    ]
    # What was begun comes first, so that little is half done at any time.
    missing.sort(key=lambda cell: states[cell.id] == "waiting")
    return [
        Job(
            id=cell.id,
            folder=str(cell.place.path.resolve()),
            spec=cell.spec.to_plain(),
            fingerprint=fingerprints[cell.spec.data],
            loggers=tuple(loggers),
            device=device,
        )
        for cell in missing
    ]


def _conduct(queue: JobQueue, executor: AbstractExecutor, audience: Audience) -> str:
    """Until the queue is empty, or what blocks it."""
    blocked, is_stopping = "", False
    with (
        deferred_interruption(with_termination=True) as is_interrupted,
        contextlib.closing(executor.run(queue)) as stream,
    ):
        for news in stream:
            if news.kind == "ended" and news.job and news.outcome:
                outcome = queue.settle(news.job, news.outcome)
                news = News("ended", news.job, outcome)
                if outcome.end == "blocked":
                    blocked = blocked or outcome.message
            audience.hear(news)
            if (blocked or is_interrupted()) and not is_stopping:
                is_stopping = True
                queue.close()
                executor.stop()
    return blocked
