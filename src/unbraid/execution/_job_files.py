"""Files that every job has in its folder."""

import os
from pathlib import Path
from typing import Any, ClassVar

import pydantic

from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    read_checked_json,
    set_aside,
    write_json,
)


class _Failure(pydantic.BaseModel):
    error: str


class JobFiles:
    """Paths of the files of a job.

    Args:
        path: Folder of the job.
    """

    names: ClassVar[tuple[str, ...]] = (
        *("failure.json", "worker.json", "work.lock"),
        *("state.safetensors", "history.jsonl"),
    )
    """Names of all files that a job of this kind may write."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def failure(self) -> Path:
        """Why the job failed."""
        return self.path / "failure.json"

    @property
    def worker(self) -> Path:
        """Process that works, or last worked, on the job."""
        return self.path / "worker.json"

    @property
    def lock(self) -> Path:
        """Lock held by the process that works on the job."""
        return self.path / "work.lock"

    @property
    def training_state(self) -> Path:
        """State from which the job continues, rewritten as the job progresses."""
        return self.path / "state.safetensors"

    @property
    def history(self) -> Path:
        """Progress, one JSON record with a ``step`` per line."""
        return self.path / "history.jsonl"

    def write_failure(self, id: str, message: str, kind: str) -> None:
        """Write why the job failed.

        Args:
            id: Name of the job.
            message: Reason, in one line.
            kind: Name of the exception class.
        """
        record = {"id": id, "error": message, "type": kind}
        write_json(self.failure, record, kind="failure")

    def read_failure(self) -> dict[str, Any]:
        """Return the record of the failure; empty if the job did not fail."""
        return read_checked_json(self.failure, kind="failure", shape=_Failure)

    def set_damaged_aside(self) -> None:
        """Rename unreadable files, so that their contents are computed again.

        Raises:
            NewerFormatError: If a newer version of unbraid wrote a file.
        """
        if not os.path.lexists(self.path):
            return
        if not self.path.is_dir():
            set_aside(self.path)
            return
        for entry in list(os.scandir(self.path)):
            # A folder, a pipe or a broken link with the name of one of the files.
            if entry.name in self.names and not entry.is_file():
                set_aside(Path(entry.path))
        try:
            self.read_failure()
        except NewerFormatError:
            raise
        except CheckpointFormatError:
            set_aside(self.failure)
