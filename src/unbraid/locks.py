"""Locks on files that go when their process goes, however it ends."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # not a Unix: one process at a time is up to the user
    fcntl = None


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock, if nobody else does.

    Args:
        path: A file of the lock's own; it is made, and stays.

    Yields:
        Whether this process holds the lock.

    Raises:
        FileExistsError: If the path is a folder, a pipe or anything else that is not a
            file.
    """
    if path.exists() and not path.is_file():
        raise FileExistsError(
            f"{path}: cannot be locked because it is not a regular file. Move it away."
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if fcntl is None:
            yield True
            return
        yield _is_taken(file, fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Whether a process holds a lock now."""
    if fcntl is None or not path.is_file():
        return False
    with path.open("rb") as file:
        return not _is_taken(file, fcntl.LOCK_SH)


def _is_taken(file: BinaryIO, kind: int) -> bool:
    """Whether the lock on a file is ours now."""
    assert fcntl is not None
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a disk without locks, where nothing can be held
    return True
