"""The files of one run of a study, and how far the run is."""

import os
from pathlib import Path
from typing import Any, Literal

import pydantic

from unbraid.execution import JobFiles
from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    is_locked,
    read_checked_json,
    set_aside,
)
from unbraid.training import read_model_hash, read_weight_hashes

State = Literal["done", "failed", "running", "begun", "waiting"]


class _Score(pydantic.BaseModel):
    value: float | None


class _Scores(pydantic.BaseModel):
    id: str = ""
    model: str | None = None
    scores: dict[str, _Score]
    fit: dict[str, float | None]
    failures: dict[str, str] = {}
    warnings: list[str]
    evolution: dict[str, Any] = {}


class RunFiles(JobFiles):
    """Paths and content of the files of one run of a study.

    Args:
        path: Folder of the run.
        id: Id of the run; the one in its folder when not given.
    """

    names = (
        *JobFiles.names,
        *("run.json", "scores.json", "spec.json", "status.json", "lock"),
        *("recursion.json", "model.json", "model.safetensors", "traces.safetensors"),
        "scores.jsonl",
    )

    def __init__(self, path: Path, id: str = "") -> None:
        super().__init__(path)
        self._id = id

    @property
    def run(self) -> Path:
        """Settings of the run."""
        return self.path / "run.json"

    @property
    def scores(self) -> Path:
        """Scores of the run; written when it is done."""
        return self.path / "scores.json"

    def preview(self, step: int) -> Path:
        """Fit of a run that paused at a step; written after its codes."""
        return self.path / f"preview-{step}.json"

    def preview_codes(self, step: int) -> Path:
        """Codes of a run that paused at a step."""
        return self.path / f"preview-{step}.npz"

    def preview_files(self) -> tuple[str, ...]:
        """Names of all previews of the run."""
        return tuple(path.name for path in self.path.glob("preview-*"))

    @property
    def state(self) -> State:
        """How far the run is, by which files exist."""
        if self.scores.is_file():
            return "done"
        # Before the failure: the run may be in its second attempt.
        if is_locked(self.lock):
            return "running"
        if self.failure.is_file():
            return "failed"
        return "begun" if self.training_state.is_file() else "waiting"

    def repair(self) -> dict[str, Any]:
        """Return the scores of the run, after renaming files that are damaged.

        What is renamed is computed again: files that cannot be read, and scores of
        another run or of another model.

        Returns:
            Content of ``scores.json``; empty if the run is not done.

        Raises:
            NewerFormatError: If a newer version wrote one of the files.
        """
        for name in ("model.json", "model.safetensors"):
            path = self.path / name
            if os.path.lexists(path) and not path.is_file():
                set_aside(self.scores)  # so that the model is trained again
        self.set_damaged_aside()
        if not self.scores.is_file():
            return {}
        try:
            weights = read_model_hash(self.path)
            return self._read_scores(
                {weights} if weights else read_weight_hashes(self.path)
            )
        except NewerFormatError:
            raise
        except CheckpointFormatError:
            set_aside(self.scores)
            return {}

    def read_scores(self, *, check_model: bool = True) -> dict[str, Any]:
        """Return the content of ``scores.json``; empty if the run is not done.

        Args:
            check_model: Whether to compare the scores with the files of the model.

        Raises:
            CheckpointFormatError: If the file is damaged, or if it belongs to another
                run or to another model than the one beside it.
        """
        return self._read_scores(
            read_weight_hashes(self.path) if check_model else set()
        )

    def _read_scores(self, weights: set[str]) -> dict[str, Any]:
        """Read the scores, and compare them with the hashes of the model's weights."""
        scores = read_checked_json(self.scores, kind="scores", shape=_Scores)
        if not scores:
            return scores
        owner = self._find_id()
        if owner and scores.get("id", owner) != owner:
            raise CheckpointFormatError(
                f"{self.scores}: these scores belong to run {scores['id']}, not to "
                f"{owner}. `unbraid study run` computes the run again."
            )
        scored = scores.get("model")
        # Scores of the first versions name no model; a pruned run has none, and one
        # that cannot be read says nothing about its scores.
        if scored is not None and weights - {scored}:
            raise CheckpointFormatError(
                f"{self.scores}: these scores belong to another model than the one "
                "beside them. `unbraid study run` computes the run again."
            )
        return scores

    def _find_id(self) -> str:
        """Return the id of the run; empty if it is unknown."""
        if self._id:
            return self._id
        try:
            id = read_checked_json(self.run, kind="study run").get("id")
        except CheckpointFormatError:
            return ""
        return id if isinstance(id, str) else ""
