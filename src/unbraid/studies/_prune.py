"""Deleting files that a study no longer needs, and measuring its size."""

import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

from unbraid.evolution import delete_generation, is_over
from unbraid.foundation import (
    CheckpointFormatError,
    delete_own_files,
    is_locked,
    read_json,
)

from ._run_files import RunFiles
from ._store import StudyFolder, StudyPath

# In the order in which they are missed least. A finished run needs none of them; a
# model can only be made again by training.
_SPARE = ("state.safetensors", "traces.safetensors", "model.safetensors")

# Seconds between two measurements of the size of a study.
_LOOK_SECONDS = 10.0

_OF_LOGGERS = ("tensorboard", "wandb")


@dataclass(frozen=True)
class Pruned:
    """Files that were deleted, and the size of what is left.

    Attributes:
        n_files: Number of files of the study's runs that were deleted.
        n_bytes: Size of everything that was deleted.
        n_strangers: Number of deleted runs that no longer belong to the study.
        size: Size of the study's folder afterwards, in bytes.
    """

    n_files: int
    n_bytes: int
    n_strangers: int
    size: int


def folder_size(path: Path) -> int:
    """Return the size of all files in a folder, in bytes."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.stat(os.path.join(folder, name)).st_size
            except FileNotFoundError:  # another process has just renamed it
                continue
    return total


def prune(
    out: StudyPath,
    *,
    budget: int | None = None,
    models: bool = False,
    strangers: bool = False,
) -> Pruned:
    """Delete files that finished runs do not need any more.

    Training states of finished runs and of complete populations are deleted. While the
    study is larger than its budget, traces follow, and then, if that is allowed,
    models. Settings, histories and scores are always kept.

    Args:
        out: Folder of the study, or its path.
        budget: Largest size of the folder in bytes; without one, only states are
            deleted.
        models: Whether models may be deleted.
        strangers: Whether to delete runs that no longer belong to the study, because it
            was changed. Other files in their folders are kept.

    Example:
        >>> import tempfile
        >>> from unbraid.studies import run_study, study_from_plain
        >>> plain = {"data": "xy_squares:image_size=8,square_size=1,n_squares=1",
        ...     "training": {"steps": 1}, "evaluation": {"metrics": "mig", "rows": 64}}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     end = run_study(study_from_plain(plain), folder)
        ...     pruned = prune(folder)
        >>> pruned.n_files
        1
    """
    folder = StudyFolder.at(out)
    ours = {cell.id: cell.files for cell in folder.cells}
    n_strangers, n_files = 0, 0
    before = folder_size(folder.path)
    if strangers:
        for path in _runs_beside(folder, set(ours)):
            files = (*RunFiles.names, *RunFiles(path).preview_files())
            delete_own_files(path, files, folders=_OF_LOGGERS)
            n_strangers += 1
    for path in sorted(folder.path.glob("populations/*/generation-*")):
        # The winner is there when nothing is left to be done.
        if is_over(path.parent):
            n_files += delete_generation(path)
    size = folder_size(folder.path)
    freed = before - size
    done = [files for files in ours.values() if _is_done(files)]
    for name in _SPARE[: 3 if models else 2]:
        for files in done:
            is_within = budget is None or size <= budget
            if is_within and name != _SPARE[0]:
                break
            path = files.path / name
            if path.is_file():
                n_bytes = path.stat().st_size
                path.unlink()
                n_files, freed, size = n_files + 1, freed + n_bytes, size - n_bytes
    return Pruned(n_files, freed, n_strangers, size)


def _runs_beside(folder: StudyFolder, ours: set[str]) -> list[Path]:
    """Return runs that do not belong to the study and that no process works on."""
    if not folder.runs.is_dir():
        return []
    return [
        path
        for path in sorted(folder.runs.iterdir())
        if path.name not in ours
        and _is_run(path)
        and not is_locked(RunFiles(path).lock)
    ]


def _is_run(path: Path) -> bool:
    """Whether a folder holds a run, by its file and its name."""
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        record = read_json(RunFiles(path).run, kind="study run")
    except (OSError, CheckpointFormatError):
        return False
    return record.get("id") == path.name


def _is_done(files: RunFiles) -> bool:
    try:
        return files.state == "done" and bool(files.read_scores())
    except CheckpointFormatError:
        return False  # it will be computed again, and may need its files


class DiskBudget:
    """Keeps a study within its disk space, as long as that is possible.

    Args:
        folder: Folder of the study.
        n_bytes: Largest size of the folder; any when not given.
    """

    def __init__(self, folder: StudyFolder, n_bytes: int | None) -> None:
        self._folder, self._n_bytes = folder, n_bytes
        self._looked_at = -math.inf

    def exceeded(self) -> str:
        """Return why the study must stop; empty if it may continue."""
        now = time.monotonic()
        if self._n_bytes is None or now - self._looked_at < _LOOK_SECONDS:
            return ""
        self._looked_at = now
        size = folder_size(self._folder.path)
        if size > self._n_bytes:
            size = prune(self._folder, budget=self._n_bytes).size
        if size <= self._n_bytes:
            return ""
        return (
            f"{size / 1e6:.1f} MB, which is more than the {self._n_bytes / 1e6:.1f} MB "
            "that the study may take"
        )
