"""run_study: whatever is missing of a study, until nothing is."""

import math
import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from unbraid.data import open_cached
from unbraid.execution import (
    AbstractExecutor,
    Job,
    JobQueue,
    LocalExecutor,
    NullObserver,
    Observer,
    run_jobs,
)

from ._preview import read_preview
from ._prune import folder_size, prune
from ._specification import RunSpec
from ._store import Cell, StudyFolder
from ._sweep import Study
from ._table import write_table
from ._work import make_job

# Seconds between two looks at how large a study is.
_LOOK_SECONDS = 10.0


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


def run_study(
    study: Study,
    out: str | os.PathLike[str],
    *,
    executor: AbstractExecutor | None = None,
    loggers: Sequence[str] = (),
    device: str = "auto",
    disk_budget: int | None = None,
    observer: Observer | None = None,
    until: int | None = None,
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
        device: Device of each run; ``"auto"`` takes the first available of cuda, mps
            and cpu.
        disk_budget: Bytes that the study may take; when it has more, the states of
            finished runs are deleted, and if that does not help, it stops.
        observer: Told of everything that happens.
        until: Step at which runs pause with a preview (see :func:`read_preview`); a
            later call without it finishes them. ``None`` trains and scores all runs.

    Returns:
        How many runs are done (or paused at ``until``), have failed, and are left.

    Raises:
        OSError: If the disk is full or cannot be written; what is done stays.
    """
    if until is not None and any(spec.evolution for spec in study.runs()):
        raise ValueError(
            "until needs runs without evolution: populations cannot pause."
        )
    folder = StudyFolder(out)
    jobs = _plan(folder, study, loggers, device, until)
    executor = executor or LocalExecutor()
    observer = observer or NullObserver()
    n_runs = len(folder.cells)
    observer.begin(
        n_runs=n_runs, n_done=n_runs - len(jobs), n_workers=executor.n_workers
    )
    queue = JobQueue(jobs)
    budget = _Budget(folder, disk_budget)
    if jobs:
        run_jobs(queue, executor, observer, lambda *_: budget.exceeded())
    if until is None:
        write_table(folder)
    n_left = len(_unfinished(folder, until))
    n_failed = folder.counts()["failed"]
    return StudyEnd(
        done=n_runs - n_failed - n_left,
        failed=n_failed,
        left=n_left,
        reason="interrupted" if n_left else "",
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
        cell.files.failure.unlink(missing_ok=True)
    return len(failed)


def fingerprints_of(specs: Iterable[RunSpec]) -> dict[str, str]:
    """Fingerprint of every dataset of some runs, by what they call it.

    Opens them: what has to be converted is converted once, before workers look for it.
    """
    datasets = dict.fromkeys(spec.data for spec in specs)
    return {str(data): open_cached(data).fingerprint for data in datasets}


def _plan(
    folder: StudyFolder,
    study: Study,
    loggers: Sequence[str],
    device: str,
    until: int | None,
) -> list[Job]:
    fingerprints = fingerprints_of(study.runs())
    folder.write(study, fingerprints)
    for cell in folder.cells:
        cell.files.set_damaged_aside()
    missing = _unfinished(folder, until)
    states = folder.states()
    # What was begun comes first, so that little is half done at any time.
    missing.sort(key=lambda cell: states[cell.id] == "waiting")
    return [
        make_job(
            cell,
            fingerprints[str(cell.spec.data)],
            loggers=loggers,
            device=device,
            until=until,
        )
        for cell in missing
    ]


def _unfinished(folder: StudyFolder, until: int | None) -> list[Cell]:
    """Return the runs that have not failed and lack scores, or the wanted preview."""
    states = folder.states()
    return [
        cell
        for cell in folder.cells
        if states[cell.id] != "failed"
        and (
            states[cell.id] != "done"
            if until is None
            else read_preview(cell.files, step=until) is None
        )
    ]


class _Budget:
    """Keeps a study within its bytes, as long as that is possible."""

    def __init__(self, folder: StudyFolder, n_bytes: int | None) -> None:
        self._folder, self._n_bytes = folder, n_bytes
        self._looked_at = -math.inf

    def exceeded(self) -> str:
        """Why the study cannot go on; empty if it can."""
        now = time.monotonic()
        if self._n_bytes is None or now - self._looked_at < _LOOK_SECONDS:
            return ""
        self._looked_at = now
        size = folder_size(self._folder.path)
        if size > self._n_bytes:
            size = prune(self._folder.path, budget=self._n_bytes).size
        if size <= self._n_bytes:
            return ""
        return (
            f"{size / 1e6:.1f} MB, which is more than the {self._n_bytes / 1e6:.1f} MB "
            "that the study may take"
        )
