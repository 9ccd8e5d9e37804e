"""File locks, which are released when their process ends in any way."""

import contextlib
import errno
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

_NO_LOCKS = (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP)
"""Errors of disks that do not support locks."""


@contextlib.contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold a lock if no other process does.

    Args:
        path: File of the lock. It is created if needed, and stays.

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
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        yield False
        return
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    try:
        yield True
    finally:
        lock.release()


def is_locked(path: Path) -> bool:
    """Return whether a process holds a lock now."""
    if not path.is_file():
        return False
    try:
        with locked(path) as is_ours:
            return not is_ours
    except PermissionError:  # a folder that we may only read
        return False
