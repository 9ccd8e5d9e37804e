"""How far a study is, in numbers and words."""

import os
from typing import Any

from unbraid.foundation import CheckpointFormatError, read_json
from unbraid.training import read_history

from ._store import Cell, StudyFolder

_STATES = ("done", "running", "failed", "begun", "waiting")
# Finished runs from which the pace is judged.
_RECENT = 50


def study_status(out: str | os.PathLike[str]) -> dict[str, Any]:
    """How far a study is, as plain data.

    Args:
        out: Folder of the study.

    Returns:
        ``name``; ``n_runs``; ``counts`` of runs that are done, running, failed, begun
        (broken off, to be gone on with) or waiting; ``running``: id, step, steps and
        worker of each; ``failed``: id and error of each; ``seconds_left`` at the pace
        of the last runs, or ``None`` if that cannot be told.
    """
    folder = StudyFolder(out)
    states = folder.states()
    cells = {state: [] for state in _STATES}
    for cell in folder.cells:
        cells[states[cell.id]].append(cell)
    n_left = len(folder.cells) - len(cells["done"]) - len(cells["failed"])
    is_running = bool(cells["running"])
    return {
        "name": folder.study.name,
        "n_runs": len(folder.cells),
        "counts": {state: len(found) for state, found in cells.items()},
        "running": [_describe_running(cell) for cell in cells["running"]],
        "failed": [{"id": cell.id, "error": _why(cell)} for cell in cells["failed"]],
        "seconds_left": _seconds_left(cells["done"], n_left) if is_running else None,
    }


def _describe_running(cell: Cell) -> dict[str, Any]:
    history = read_history(cell.files.path / "history.jsonl")
    try:
        words = read_json(cell.files.worker, kind="worker")
        worker = f"process {words.get('pid')} on {words.get('host')}"
    except (CheckpointFormatError, OSError):
        worker = ""
    return {
        "id": cell.id,
        "step": history[-1]["step"] if history else 0,
        "steps": cell.spec.training.steps,
        "worker": worker,
    }


def _why(cell: Cell) -> str:
    try:
        return cell.files.read_failure().get("error", "")
    except CheckpointFormatError as error:
        return str(error)


def _seconds_left(done: list[Cell], n_left: int) -> float | None:
    """From when the last runs were finished."""
    times = sorted(cell.files.scores.stat().st_mtime for cell in done)[-_RECENT:]
    if len(times) < 2:
        return None
    return (times[-1] - times[0]) / (len(times) - 1) * n_left
