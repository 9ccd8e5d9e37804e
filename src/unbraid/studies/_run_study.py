"""run_study: train and score the runs of a study that are not done yet."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbraid.data import open_cached
from unbraid.execution import (
    AbstractExecutor,
    JobQueue,
    LocalExecutor,
    NullObserver,
    Observer,
    run_jobs,
)

from ._preview import Preview, read_preview
from ._prune import DiskBudget
from ._records import RunRecord, read_record
from ._specification import RunSpec
from ._store import StudyFolder, StudyPath
from ._sweep import Study
from ._table import make_table, save_table
from ._work import make_job

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyResult:
    """What became of the runs of a study.

    Attributes:
        done: Number of runs with scores, or with a preview at the step at which they
            were to pause.
        failed: Number of runs that failed.
        left: Number of runs that are still to be done, after an interruption.
        reason: Why runs are left; empty if none are.
        runs: The runs, in the order of the study's file.
        previews: Previews of paused runs, by the id of the run.
    """

    done: int
    failed: int
    left: int
    reason: str = ""
    runs: tuple[RunRecord, ...] = field(default=(), repr=False)
    previews: Mapping[str, Preview] = field(default_factory=dict, repr=False)

    def to_plain(self) -> dict[str, Any]:
        """Return the numbers of runs and the reason, as JSON can hold them."""
        return {
            "done": self.done,
            "failed": self.failed,
            "left": self.left,
            "reason": self.reason,
        }

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per run, as :func:`study_table` does."""
        return make_table(self.runs)


def run_study(
    study: Study,
    out: StudyPath,
    *,
    executor: AbstractExecutor | None = None,
    loggers: Sequence[str] = (),
    device: str = "auto",
    disk_budget: int | None = None,
    observer: Observer | None = None,
    until: int | None = None,
) -> StudyResult:
    """Train and score the runs of a study that are not done yet, and write its table.

    Interrupted runs continue from their last saved state, and runs that failed are left
    alone (see :func:`retry_failed`). Several processes may call this with one folder at
    once: they share the runs.

    After Ctrl-C or SIGTERM, every run is saved at its next step and the function
    returns. A second Ctrl-C stops at once.

    Args:
        study: Settings of all runs.
        out: Folder of the study, or its path.
        executor: Executor that runs the jobs; one process per core of this machine when
            not given.
        loggers: Names of loggers that every run reports to.
        device: Device of each run; ``"auto"`` takes the first available of cuda, mps
            and cpu.
        disk_budget: Largest size of the study's folder in bytes. When it is exceeded,
            states of finished runs are deleted; if that is not enough, the study stops.
        observer: Notified of the progress of every run.
        until: Step at which runs pause with a preview (see :func:`read_preview`); a
            later call without it finishes them. ``None`` trains and scores all runs.

    Returns:
        The runs, and how many are done (or paused at ``until``), failed, and left.

    Raises:
        OSError: If the disk is full or cannot be written to. Finished runs are kept.
    """
    if until is not None and any(spec.evolution for spec in study.runs()):
        raise ValueError(
            "until needs runs without evolution: populations cannot pause."
        )
    folder = StudyFolder.at(out)
    fingerprints = fingerprints_of(study.runs())
    folder.write(study, fingerprints)
    before = _read_progress(folder, until)
    missing = before.unfinished()
    # Runs that have begun come first, so that few runs are unfinished at any time.
    missing.sort(key=lambda run: run.state == "waiting")
    executor, observer = executor or LocalExecutor(), observer or NullObserver()
    n_runs = len(folder.cells)
    n_done = n_runs - len(missing)
    observer.begin(n_runs=n_runs, n_done=n_done, n_workers=executor.n_workers)
    jobs = [
        make_job(
            run.cell,
            fingerprints[str(run.cell.spec.data)],
            loggers=loggers,
            device=device,
            until=until,
        )
        for run in missing
    ]
    budget = DiskBudget(folder, disk_budget)
    if jobs:
        run_jobs(JobQueue(jobs), executor, observer, lambda *_: budget.exceeded())
    result = _update_progress(before, folder, until).result()
    if until is None:
        save_table(result.to_frame(), folder.table_file)
    return result


def retry_failed(out: StudyPath) -> int:
    """Delete the errors of failed runs, so that the study tries the runs again.

    Args:
        out: Folder of the study, or its path.

    Returns:
        Number of failed runs.
    """
    folder = StudyFolder.at(out)
    states = folder.states()
    failed = [cell for cell in folder.cells if states[cell.id] == "failed"]
    for cell in failed:
        cell.files.failure.unlink(missing_ok=True)
    return len(failed)


def fingerprints_of(specs: Iterable[RunSpec]) -> dict[str, str]:
    """Return the fingerprint of every dataset of some runs, by its name in them.

    The datasets are opened, so that files which have to be converted are converted
    before workers look for them.

    Args:
        specs: Settings of the runs.
    """
    datasets = dict.fromkeys(spec.data for spec in specs)
    return {str(data): open_cached(data).fingerprint for data in datasets}


@dataclass(frozen=True)
class _Progress:
    """What the files of a study say about its runs.

    Attributes:
        runs: The runs, in the order of the study's file.
        previews: Previews at the step ``until``, by the id of the run.
        until: Step at which runs pause, if they do.
    """

    runs: tuple[RunRecord, ...]
    previews: Mapping[str, Preview]
    until: int | None

    def unfinished(self) -> list[RunRecord]:
        """Return the runs that have not failed and lack scores, or their preview."""
        return [
            run
            for run in self.runs
            if run.state != "failed"
            and (
                run.state != "done"
                if self.until is None
                else run.id not in self.previews
            )
        ]

    def result(self) -> StudyResult:
        n_failed = sum(run.state == "failed" for run in self.runs)
        n_left = len(self.unfinished())
        return StudyResult(
            done=len(self.runs) - n_failed - n_left,
            failed=n_failed,
            left=n_left,
            reason="interrupted" if n_left else "",
            runs=self.runs,
            previews=self.previews,
        )


def _read_progress(folder: StudyFolder, until: int | None) -> _Progress:
    """Read the files of all runs, and rename those that are damaged."""
    scores = {cell.id: cell.files.repair() for cell in folder.cells}
    states = folder.states()
    runs = tuple(
        RunRecord(cell, "done", scores[cell.id])
        if scores[cell.id] and states[cell.id] == "done"
        else read_record(cell, states[cell.id])
        for cell in folder.cells
    )
    return _Progress(runs, _read_previews(runs, until), until)


def _update_progress(
    before: _Progress, folder: StudyFolder, until: int | None
) -> _Progress:
    """Read the files of the runs that were not done or failed before.

    Scores are not compared with their models, which the same jobs have just written.
    """
    states = folder.states()
    is_known = {run.id: states[run.id] == run.state for run in before.runs}
    runs = tuple(
        run
        if is_known[run.id] and run.state in ("done", "failed")
        else read_record(run.cell, states[run.id], check_model=False)
        for run in before.runs
    )
    new = [run for run in runs if run.id not in before.previews]
    return _Progress(runs, {**before.previews, **_read_previews(new, until)}, until)


def _read_previews(runs: Sequence[RunRecord], until: int | None) -> dict[str, Preview]:
    if until is None:
        return {}
    found = {run.id: read_preview(run.cell.files, step=until) for run in runs}
    return {id: preview for id, preview in found.items() if preview is not None}
