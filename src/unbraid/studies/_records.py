"""RunRecord: what is known of one run of a study, read from its files once."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from unbraid.foundation import CheckpointFormatError
from unbraid.training import (
    Diagnosis,
    RunFolder,
    ScoreCurve,
    read_history,
    score_curves,
)

from ._run_files import State
from ._store import Cell, StudyFolder


@dataclass(frozen=True)
class RunRecord:
    """One run of a study: its settings, how far it is, and its scores.

    Attributes:
        cell: Settings and files of the run.
        state: Progress of the run; ``"failed"`` also if its scores are damaged.
        scores: Content of ``scores.json``; empty unless the run is done.
        error: Why the run failed; empty unless it did.
    """

    cell: Cell
    state: State
    scores: Mapping[str, Any] = field(default_factory=dict, repr=False)
    error: str = ""

    @property
    def id(self) -> str:
        """Id of the run."""
        return self.cell.id

    @property
    def is_active(self) -> bool:
        """Whether the run is done and, as far as is known, has an active latent."""
        fit = self.scores.get("fit", {})
        return self.state == "done" and fit.get("active_latents") != 0

    @cached_property
    def status(self) -> dict[str, Any]:
        """Content of the ``status.json`` that training wrote, read once."""
        return RunFolder(self.cell.files.path).read_status()

    @cached_property
    def score_curves(self) -> dict[str, ScoreCurve]:
        """Scores during training by name; empty unless the study asks for them."""
        if self.cell.spec.evaluation.score_every is None:
            return {}
        return score_curves(read_history(RunFolder(self.cell.files.path).scores))

    @property
    def warnings(self) -> tuple[Diagnosis, ...]:
        """What was wrong with the run when its training ended."""
        return RunFolder(self.cell.files.path).read_warnings(self.status)


def read_record(cell: Cell, state: State, *, check_model: bool = True) -> RunRecord:
    """Read the scores of a run, or why it failed.

    Args:
        cell: The run.
        state: Progress of the run.
        check_model: Whether to compare the scores with the files of the model.
    """
    files, scores, error = cell.files, {}, ""
    try:
        if state == "failed":
            error = files.read_failure().get("error", "")
        if state == "done":
            scores = files.read_scores(check_model=check_model)
    except CheckpointFormatError as damage:
        return RunRecord(cell, "failed", error=str(damage))
    return RunRecord(cell, state, scores, error)


def read_records(folder: StudyFolder) -> tuple[RunRecord, ...]:
    """Read what is known of every run of a study, in the order of its file.

    Args:
        folder: Folder of the study.
    """
    states = folder.states()
    return tuple(read_record(cell, states[cell.id]) for cell in folder.cells)
