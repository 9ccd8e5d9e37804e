"""Making room: what a study can do without, and how much of the disk it takes."""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from unbraid.locks import is_locked

from ._store import RunPlace, StudyFolder

# In the order in which they are missed least. A finished run needs none of them; a
# model can only be made again by training.
_SPARE = ("state.safetensors", "traces.safetensors", "model.safetensors")


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
    ours = {cell.id: cell.place for cell in folder.cells}
    n_strangers, freed, n_files = 0, 0, 0
    if strangers:
        for path in _runs_beside(folder, set(ours)):
            freed += folder_size(path)
            shutil.rmtree(path)
            n_strangers += 1
    for path in sorted(folder.path.glob("populations/*/generation-*")):
        # The winner is there when nothing is left to be done.
        if (path.parent / "winner").is_dir():
            freed += folder_size(path)
            n_files += sum(part.is_file() for part in path.rglob("*"))
            shutil.rmtree(path)
    size = folder_size(folder.path)
    done = [place for place in ours.values() if place.state == "done"]
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
        if path.is_dir()
        and path.name not in ours
        and not is_locked(RunPlace(path).lock)
    ]
