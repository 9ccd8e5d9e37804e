"""Results on disk: replaced as a whole, and the earlier ones kept under history."""

import contextlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unbraid.foundation import delete_own_files, is_our_json, set_aside

from ._plan import Plan

_FILES = (
    *("codes.npy", "files.txt", "traversals.png", "worst-reconstructions.png"),
    *("summary.txt", "explorer.html", "report.html", "discovery.json"),
)
_MODEL = "model"
_MODEL_FILES = ("model.safetensors", "model.json")
_STAGED = re.compile(r"\.result\.[0-9a-f]{16}\.part")
# Keys with paths, which differ between copies of one result.
_PATHS = ("folder", "summary", "report")


def require_own(folder: Path, plan: Plan | None) -> None:
    """Refuse a folder with somebody else's files under names that are written here.

    A plan that is damaged is renamed if other files say that the folder is ours.

    Args:
        folder: Folder of the discovery.
        plan: The plan that was read from it, if it has one that can be read.
    """
    if plan is not None:
        return
    if is_our_json(folder / "discovery.json", kind="discovery") or is_our_json(
        folder / "study" / "data.json", kind="data of a study"
    ):
        set_aside(folder / "plan.json")
        return
    names = (*_FILES, _MODEL, "study", "plan.json")
    foreign = [name for name in names if os.path.lexists(folder / name)]
    if foreign:
        raise FileExistsError(
            f"discover: the folder {str(folder)!r} holds {foreign[0]!r} but no "
            "plan.json that unbraid wrote. Choose another with --out."
        )


def choose_result_folder(folder: Path, *, is_refusal: bool) -> Path:
    """Return where a result goes: the folder, or its history if it has a model to keep.

    Args:
        folder: Folder of the discovery.
        is_refusal: Whether the result is that no model was chosen.
    """
    has_model = os.path.lexists(folder / _MODEL / "model.json")
    return _next(folder) if is_refusal and has_model else folder


@contextlib.contextmanager
def staged_result(folder: Path) -> Iterator[Path]:
    """Make a hidden folder to write a result into, and delete it after the block."""
    for path in folder.iterdir():
        # Left by a call that was killed; it is over, because the discovery is locked.
        if _STAGED.fullmatch(path.name) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
    staged = folder / f".result.{secrets.token_hex(8)}.part"
    staged.mkdir()
    try:
        yield staged
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def publish(staged: Path, folder: Path, target: Path) -> Path:
    """Move a result to its folder, unless the same result is there already.

    Whatever has one of its names is linked into ``history`` first, so that a kill at
    any moment loses nothing. ``discovery.json`` comes last.

    Args:
        staged: The result.
        folder: Folder of the discovery.
        target: Folder that :func:`choose_result_folder` returned.

    Returns:
        Folder that holds the result.
    """
    if target != folder:
        last = target.with_name(str(int(target.name) - 1))
        if _is_same(staged, last):
            return last
        target.parent.mkdir(exist_ok=True)
        staged.rename(target)
        return target
    if _is_same(staged, folder):
        return folder
    _keep(folder)
    (folder / "discovery.json").unlink(missing_ok=True)
    for name in _FILES:
        if name != "discovery.json":
            _put(staged / name, folder / name)
    if (staged / _MODEL).is_dir():
        (folder / _MODEL).mkdir(exist_ok=True)
        for name in _MODEL_FILES:
            _put(staged / _MODEL / name, folder / _MODEL / name)
    else:
        delete_own_files(folder / _MODEL, _MODEL_FILES)
    _put(staged / "discovery.json", folder / "discovery.json")
    return folder


def _put(source: Path, target: Path) -> None:
    """Replace a file by another one, or delete it; it is kept in the history."""
    if source.is_file():
        source.replace(target)
    else:
        target.unlink(missing_ok=True)


def _keep(folder: Path) -> None:
    """Link everything that has the name of a result into the history."""
    names = [name for name in (*_FILES, _MODEL) if os.path.lexists(folder / name)]
    if not names:
        return
    kept = _next(folder)
    part = kept.with_name(f".{kept.name}.{secrets.token_hex(8)}.part")
    part.mkdir(parents=True)
    for name in names:
        path = folder / name
        if name == _MODEL and path.is_dir() and not path.is_symlink():
            (part / name).mkdir()
            for inner in _MODEL_FILES:
                if os.path.lexists(path / inner):
                    _link(path / inner, part / name / inner)
        else:
            _link(path, part / name)
    part.rename(kept)


def _link(source: Path, target: Path) -> None:
    """Link a file under another name; move anything else there."""
    if source.is_symlink() or not source.is_file():
        source.rename(target)
        return
    try:
        os.link(source, target)
    except OSError:  # a disk without links
        shutil.copy2(source, target)


def _next(folder: Path) -> Path:
    """Return the next free folder in the history."""
    history = folder / "history"
    if os.path.lexists(history) and not history.is_dir():
        raise FileExistsError(
            f"discover: {str(history)!r} is not a folder, so that earlier results "
            "cannot be kept there. Move it away."
        )
    taken = [int(path.name) for path in history.glob("*") if path.name.isdecimal()]
    return history / str(max(taken, default=0) + 1)


def _is_same(staged: Path, other: Path) -> bool:
    """Whether a folder holds this very result."""
    # The other first: mostly there is none, and nothing has to be read.
    old = _read_files(other)
    new = None if old is None else _read_files(staged)
    if new is None or old is None or set(new) != set(old):
        return False
    return all(
        _without_paths(new[name]) == _without_paths(old[name])
        if name == "discovery.json"
        else new[name] == old[name]
        for name in new
        if name != "summary.txt"  # it names paths, and says what discovery.json says
    )


def _read_files(folder: Path) -> dict[str, bytes] | None:
    """Return the content of the files of a result; ``None`` if it is incomplete."""
    names = (*_FILES, *(f"{_MODEL}/{name}" for name in _MODEL_FILES))
    if not all((folder / name).is_file() for name in ("discovery.json", "summary.txt")):
        return None
    content = {}
    for name in names:
        path = folder / name
        if path.is_file():
            content[name] = path.read_bytes()
        elif os.path.lexists(path):
            return None
    return content


def _without_paths(content: bytes) -> Any:
    """Return the content of ``discovery.json`` without the paths of its folder."""
    try:
        record = json.loads(content)
    except (RecursionError, ValueError):
        return None
    if not isinstance(record, dict):
        return None
    return {key: value for key, value in record.items() if key not in _PATHS}
