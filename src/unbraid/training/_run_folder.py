"""Folder of a run: its files, status and lock."""

import contextlib
import functools
import os
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any, Literal

from unbraid.data import AbstractDataset
from unbraid.foundation import (
    CheckpointFormatError,
    FolderInUseError,
    expand_user,
    locked,
    read_json,
    write_json,
)

from ._diagnosis import Diagnosis
from ._scores import ScoreSettings
from ._specification import TrainingSpec, hash_plain
from ._trace import TraceSettings

Status = Literal["running", "paused", "interrupted", "failed", "finished"]

# Fields of a status and their types.
_STATUS = {
    "status": str,
    "step": int,
    "steps": int,
    "error": str,
    "warnings": list,
    "versions": dict,
}


class RunFolder:
    """Files of one run.

    Args:
        path: Path of the folder, which is created when something is written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not os.fspath(path):
            raise ValueError("The path of a run folder must not be empty.")
        self.path = expand_user(path)
        self.spec = self.path / "spec.json"
        self.status = self.path / "status.json"
        self.history = self.path / "history.jsonl"
        self.model = self.path / "model.json"
        self.state = self.path / "state.safetensors"
        self.traces = self.path / "traces.safetensors"
        self.scores = self.path / "scores.jsonl"

    def claim(
        self,
        spec: TrainingSpec,
        dataset: AbstractDataset,
        traces: TraceSettings | None,
        scores: ScoreSettings | None,
        own: dict[str, str],
        source: str = "",
    ) -> str:
        """Claim the folder for a run, unless it belongs to that run already.

        Args:
            spec: Settings of the run.
            dataset: Data to train on.
            traces: Settings of the recorded activations, if any.
            scores: Settings of the scores during training, if any.
            own: Hashes from :func:`hash_own_parts`.
            source: Text from which the data can be opened again, if there is one.

        Returns:
            The id of the run: a hash of its settings and data.

        Raises:
            CheckpointFormatError: If the folder belongs to another run; the message
                names the differences.
        """
        wanted = {
            "spec": spec.to_plain(),
            "data": {"name": dataset.name, "fingerprint": dataset.fingerprint()},
            "traces": None if traces is None else traces.to_plain(),
        }
        if source:
            wanted["data"]["source"] = source
        decisive = [wanted["spec"], wanted["data"]["fingerprint"], wanted["traces"]]
        if scores is not None:  # runs without any keep their ids
            wanted["scores"] = scores.to_plain(dataset)
            decisive.append({"scores": wanted["scores"]})
        if own:
            wanted["own"] = own
            decisive.append(own)
        run_id = hash_plain(*decisive)
        if self.spec.is_file():
            self._check_same(read_json(self.spec, kind="run"), wanted, run_id)
            return run_id
        for file in (
            self.model,
            self.path / "model.safetensors",
            self.state,
            self.history,
            self.traces,
            self.scores,
            self.status,
        ):
            if file.exists():
                raise CheckpointFormatError(
                    f"{self.path}: the folder holds {file.name} of something else. "
                    "Choose another folder."
                )
        if self.path.exists() and not self.path.is_dir():
            raise NotADirectoryError(
                f"{self.path}: this is a file, not a folder. Choose another name."
            )
        write_json(self.spec, {"id": run_id, **wanted}, kind="run")
        return run_id

    def _check_same(
        self, found: dict[str, Any], wanted: dict[str, Any], run_id: str
    ) -> None:
        if found.get("id") == run_id:
            return
        differences = _differences(found.get("spec"), wanted["spec"])
        data = found.get("data")
        fingerprint = data.get("fingerprint") if isinstance(data, dict) else None
        if fingerprint != wanted["data"]["fingerprint"]:
            differences.append("data")
        if found.get("traces") != wanted["traces"]:
            differences.append("traces")
        if found.get("scores") != wanted.get("scores"):
            differences.append("score_every or other settings of scores")
        if not differences:
            differences = _differences(found.get("own"), wanted.get("own", {}))
        raise CheckpointFormatError(
            f"{self.path}: the folder belongs to a run with another "
            f"{', '.join(differences) or 'id'}. Choose another folder, or delete this "
            "one."
        )

    def check_model(self, about: dict[str, Any]) -> None:
        """Raise an error if the model is that of another run.

        Args:
            about: Content of ``spec.json``.

        Raises:
            CheckpointFormatError: If the model names another run.
        """
        owner = read_json(self.model, kind="model").get("run")
        # Models of the first versions name no run.
        if owner and owner != about.get("id"):
            raise CheckpointFormatError(
                f"{self.model}: this model belongs to another run than spec.json "
                "beside it. Restore the model of this run, or train again in another "
                "folder."
            )

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training in the folder.

        The lock of a process that is killed is released. Where the system or the disk
        does not support locks, there is none.

        Raises:
            FolderInUseError: If another process is training in the folder.
        """
        with locked(self.path / "lock") as is_ours:
            if not is_ours:
                raise FolderInUseError(
                    f"{self.path}: another process is training in this folder. Wait "
                    "for it, or choose another folder."
                )
            yield

    def read_status(self) -> dict[str, Any]:
        """Read the status of the run; empty if the file is missing or damaged."""
        try:
            status = read_json(self.status, kind="status")
        except (OSError, CheckpointFormatError):
            return {}
        is_sound = all(isinstance(status.get(k, v()), v) for k, v in _STATUS.items())
        return status if is_sound else {}

    def read_warnings(
        self, status: dict[str, Any] | None = None
    ) -> tuple[Diagnosis, ...]:
        """Return the problems that were found at the end of the run.

        Args:
            status: Content of ``status.json``; read from the file when not given.
        """
        status = self.read_status() if status is None else status
        try:
            found = [Diagnosis(**plain) for plain in status["warnings"]]
        except (KeyError, TypeError):
            return ()
        return tuple(part for part in found if part.is_sound)

    @property
    def is_finished(self) -> bool:
        """Whether the run has ended with a model."""
        return self.read_status().get("status") == "finished" and self.model.is_file()

    def write_status(
        self,
        status: Status,
        *,
        step: int,
        steps: int,
        error: str = "",
        warnings: tuple[Diagnosis, ...] = (),
    ) -> None:
        """Write the status of the run."""
        record = {
            "status": status,
            "step": step,
            "steps": steps,
            "error": error,
            "warnings": [warning.to_plain() for warning in warnings],
            "versions": _versions(),
        }
        write_json(self.status, record, kind="status")


def _differences(found: Any, wanted: dict[str, Any]) -> list[str]:
    if not isinstance(found, dict):
        return ["settings"]
    return [name for name in wanted if found.get(name) != wanted[name]]


@functools.cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in ("unbraid", "torch")}
