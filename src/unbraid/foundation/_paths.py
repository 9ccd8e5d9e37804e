"""Paths that users type, and reading the files at them."""

import os
import stat
from pathlib import Path

from ._memory import format_bytes

MAX_TEXT_BYTES = 64_000_000
"""Size of the largest file of settings or labels that is read."""


def expand_user(path: str | os.PathLike[str]) -> Path:
    """Replace a leading ``~`` or ``~user`` with the home folder of that user.

    Args:
        path: The path as it was typed.

    Raises:
        FileNotFoundError: If there is no such user.

    Example:
        >>> expand_user("pictures").as_posix()
        'pictures'
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        user = Path(path).parts[0].removeprefix("~")
        missing = f"user {user!r}" if user else "home folder"
        raise FileNotFoundError(
            f"{os.fspath(path)}: there is no {missing} on this machine. Write the full "
            "path, or ./~ for a folder of this name."
        ) from None


def require_regular_file(
    path: str | os.PathLike[str], *, most_bytes: int | None = None
) -> int:
    """Raise an error for pipes, sockets, devices and folders.

    Reading them may never end.

    Args:
        path: Path of the file.
        most_bytes: Size of the largest file that is accepted; any when not given.

    Returns:
        Size of the file in bytes.

    Raises:
        OSError: If there is no such file, or it is not a regular file.
        ValueError: If it is larger than ``most_bytes``.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(
            f"{os.fspath(path)}: this is {_kind(status.st_mode)}, not a file."
        )
    if most_bytes is not None and status.st_size > most_bytes:
        raise ValueError(
            f"{os.fspath(path)}: the file is too large ({format_bytes(status.st_size)}"
            f"). At most {format_bytes(most_bytes)} are read."
        )
    return status.st_size


def read_text(path: str | os.PathLike[str], *, most_bytes: int = MAX_TEXT_BYTES) -> str:
    """Read a file of settings in UTF-8.

    Args:
        path: Path of the file.
        most_bytes: Size of the largest file that is accepted.

    Raises:
        OSError: If there is no such file, or it is not a regular file.
        ValueError: If it is too large, or not text.
    """
    require_regular_file(path, most_bytes=most_bytes)
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{os.fspath(path)}: the file is not UTF-8 text (byte {error.start:,})."
        ) from error


def _kind(mode: int) -> str:
    kinds = {
        stat.S_IFDIR: "a folder",
        stat.S_IFIFO: "a named pipe",
        stat.S_IFSOCK: "a socket",
        stat.S_IFCHR: "a device",
        stat.S_IFBLK: "a device",
    }
    return kinds.get(stat.S_IFMT(mode), "something else")
