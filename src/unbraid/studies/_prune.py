"""Making room: what a study can do without, and how much of the disk it takes."""

import os
from dataclasses import dataclass
from pathlib import Path

from unbraid.evolution import delete_generation, is_over
from unbraid.foundation import (
    CheckpointFormatError,
    delete_own_files,
    is_locked,
    read_json,
)

from ._store import RunFiles, StudyFolder

# In the order in which they are missed least. A finished run needs none of them; a
# model can only be made again by training.
_SPARE = ("state.safetensors", "traces.safetensors", "model.safetensors")

_OF_LOGGERS = ("tensorboard", "wandb")


@dataclass(frozen=True)
class Pruned:
    """What was deleted.

    Attributes:
        n_files: How many files.
        n_bytes: How large they were.
        n_strangers: Runs that the study has no more.
        size: Bytes that the study still takes.
    """

    n_files: int
    n_bytes: int
    n_strangers: int
    size: int


def folder_size(path: Path) -> int:
    """Bytes of all files in a folder."""
    total = 0
    for place, _, names in os.walk(path):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:  # another process has just renamed it
                continue
    return total


def prune(
    out: str | os.PathLike[str],
    *,
    budget: int | None = None,
    models: bool = False,
    strangers: bool = False,
) -> Pruned:
    """Delete what finished runs do not need any more.

    Deletes the training states of finished runs, and of populations that are complete;
    then, only while the study is larger
    than its budget, their traces; then, if that is allowed, their models. Settings,
    histories and scores always stay.

    Args:
        out: Folder of the study.
        budget: Bytes that the study may take; without one, states alone go.
        models: Whether models may go too.
        strangers: Whether runs go that the study has no more, because it was changed.
            Only folders that hold such a run are touched, and only files of the run go.

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
    folder = StudyFolder(out)
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
    done = [place for place in ours.values() if _is_done(place)]
    for name in _SPARE[: 3 if models else 2]:
        for place in done:
            is_within = budget is None or size <= budget
            if is_within and name != _SPARE[0]:
                break
            path = place.path / name
            if path.is_file():
                n_bytes = path.stat().st_size
                path.unlink()
                n_files, freed, size = n_files + 1, freed + n_bytes, size - n_bytes
    return Pruned(n_files, freed, n_strangers, size)


def _runs_beside(folder: StudyFolder, ours: set[str]) -> list[Path]:
    """Runs of the folder that are none of the study's and that nobody works on."""
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
    """Whether a folder is that of a run, which its file and its name both say."""
    if path.is_symlink() or not path.is_dir():
        return False
    try:
        words = read_json(RunFiles(path).run, kind="study run")
    except (OSError, CheckpointFormatError):
        return False
    return words.get("id") == path.name


def _is_done(place: RunFiles) -> bool:
    try:
        return place.state == "done" and bool(place.read_scores())
    except CheckpointFormatError:
        return False  # it will be computed again, and may need its files
