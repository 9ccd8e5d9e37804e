"""How far a study is: the state and progress of every run."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from unbraid.foundation import CheckpointFormatError, read_json
from unbraid.training import read_history

from ._records import RunRecord, read_record
from ._run_files import State
from ._store import StudyFolder, StudyPath

if TYPE_CHECKING:
    import pandas as pd

_STATES: tuple[State, ...] = ("done", "running", "failed", "begun", "waiting")

# Number of finished runs from which the pace is estimated.
_RECENT = 50


@dataclass(frozen=True)
class RunStatus:
    """How far one run of a study is.

    Attributes:
        id: Id of the run.
        state: ``"done"``, ``"running"``, ``"failed"``, ``"begun"`` (interrupted, to be
            continued) or ``"waiting"``.
        step: Last step in the history of a running run; 0 otherwise.
        steps: Number of steps of the whole run.
        worker: Process and machine that a running run is on; empty otherwise.
        error: Why the run failed; empty unless it did.
    """

    id: str
    state: State
    step: int
    steps: int
    worker: str
    error: str


@dataclass(frozen=True)
class StudyStatus:
    """How far a study is.

    Attributes:
        name: Name of the study.
        runs: Status of every run, in the order of the study's file.
        seconds_left: Estimated time until the end, at the pace of the last runs;
            ``None`` if no run is running or too few are done.
    """

    name: str
    runs: tuple[RunStatus, ...]
    seconds_left: float | None

    @property
    def counts(self) -> dict[State, int]:
        """Number of runs in each state."""
        counter = Counter(run.state for run in self.runs)
        return {state: counter[state] for state in _STATES}

    def runs_in(self, state: State) -> list[RunStatus]:
        """Return the runs that are in a state."""
        return [run for run in self.runs if run.state == state]

    def to_frame(self) -> "pd.DataFrame":
        """Return one row per run, with the attributes of :class:`RunStatus`.

        Example:
            >>> run = RunStatus("3f", "running", 100, 400, "process 7 on here", "")
            >>> StudyStatus("small", (run,), None).to_frame()[["id", "state", "step"]]
               id    state  step
            0  3f  running   100
        """
        import pandas as pd

        columns = list(RunStatus.__dataclass_fields__)
        return pd.DataFrame([asdict(run) for run in self.runs], columns=columns)

    def to_plain(self) -> dict[str, Any]:
        """Return the counts, running and failed runs, as JSON can hold them."""
        return {
            "name": self.name,
            "n_runs": len(self.runs),
            "counts": self.counts,
            "running": [
                {key: getattr(run, key) for key in ("id", "step", "steps", "worker")}
                for run in self.runs_in("running")
            ],
            "failed": [
                {"id": run.id, "error": run.error} for run in self.runs_in("failed")
            ],
            "seconds_left": self.seconds_left,
        }


def study_status(out: StudyPath) -> StudyStatus:
    """Return how far a study is.

    Args:
        out: Folder of the study, or its path.
    """
    folder = StudyFolder.at(out)
    states = folder.states()
    # Scores are not needed here, and there may be thousands of them.
    runs = [
        read_record(cell, state)
        if (state := states[cell.id]) == "failed"
        else RunRecord(cell, state)
        for cell in folder.cells
    ]
    return StudyStatus(
        folder.study.name, tuple(map(_describe, runs)), _seconds_left(runs)
    )


def _describe(run: RunRecord) -> RunStatus:
    step, worker = _read_progress(run) if run.state == "running" else (0, "")
    steps = run.cell.spec.training.steps
    return RunStatus(run.id, run.state, step, steps, worker, run.error)


def _read_progress(run: RunRecord) -> tuple[int, str]:
    """Return the last step of a running run, and the process that trains it."""
    history = read_history(run.cell.files.history)
    try:
        record = read_json(run.cell.files.worker, kind="worker")
        worker = f"process {record.get('pid')} on {record.get('host')}"
    except (CheckpointFormatError, OSError):
        worker = ""
    return (history[-1]["step"] if history else 0), worker


def _seconds_left(runs: Sequence[RunRecord]) -> float | None:
    """Estimate the time left from when the last runs were finished."""
    counts = Counter(run.state for run in runs)
    done = [run.cell.files.scores for run in runs if run.state == "done"]
    times = sorted(path.stat().st_mtime for path in done)[-_RECENT:]
    if not counts["running"] or len(times) < 2:
        return None
    n_left = len(runs) - counts["done"] - counts["failed"]
    return (times[-1] - times[0]) / (len(times) - 1) * n_left
