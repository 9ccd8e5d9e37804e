"""Files that are written whole or not at all."""

import contextlib
import glob
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pooch

from unbraid.paths import expand_user

_STALE_SECONDS = 24 * 3600


@contextlib.contextmanager
def written_whole(target: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that takes its name only when it is complete.

    The bytes go to a file beside the target with a name of its own, so that several
    processes may write the same target at once. If the block ends well, the file is
    flushed to the disk and renamed; if it raises, the file is deleted. What a killed
    process left behind is deleted after a day.

    Args:
        target: Where the file appears; its folder is made if needed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    _delete_stale(target)
    # Not tempfile.mkstemp: its files are private to the user, and stay so when renamed.
    part = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def cache_folder() -> Path:
    """Where what can be made again is kept: ``UNBRAID_CACHE``, or the user's cache."""
    chosen = os.environ.get("UNBRAID_CACHE") or pooch.os_cache("unbraid")
    return expand_user(chosen)


def require_space(folder: Path, n_bytes: int) -> None:
    """Raise OSError, before anything is written, if a folder's disk is too full."""
    place = folder
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if free < n_bytes:
        raise OSError(
            f"{folder}: expected {n_bytes / 1e6:.0f} MB of free disk space, got "
            f"{free / 1e6:.0f} MB. Free some space, or keep the data on another disk "
            "(root=..., or the environment variable UNBRAID_DATA)."
        )


def _delete_stale(target: Path) -> None:
    for part in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        # Another process may be doing the same, or may own the file.
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _STALE_SECONDS:
                part.unlink()
