"""Locks on files that go when their process goes, however it ends."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

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
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        if fcntl is None:
            yield True
            return
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


def is_locked(path: Path) -> bool:
    """Whether a process holds a lock now."""
    if fcntl is None or not path.is_file():
        return False
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
