"""Writing files completely or not at all."""

import contextlib
import errno
import os
import re
import secrets
import shutil
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import platformdirs

from ._paths import expand_user

_STALE_SECONDS = 24 * 3600
_OF_DISKS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a full or broken disk, which do not name the file."""
_LONGEST_START = 200
"""Length in bytes to which a target's name is cut for its temporary file."""
_PART = re.compile(r"\..+\.[0-9a-f]{16}\.part", re.DOTALL)


@contextlib.contextmanager
def atomic_write(target: Path, *, follow: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when it is complete.

    The bytes go to a file beside the target with a name of its own, so that several
    processes may write the same target at once. If the block ends well, the file is
    flushed to the disk and renamed; if it raises, the file is deleted. What a killed
    process left behind is deleted after a day.

    Args:
        target: Path of the file; its folder is created if needed.
        follow: If the target is a symbolic link, write the file that it points to
            instead of replacing the link. Only for outputs that a user named, after
            :func:`require_own_file`. In our own folders links are replaced, so that
            nothing changes elsewhere.

    Raises:
        FileExistsError: If the target is a folder, a device or anything else that is
            not a regular file.
        OSError: If the disk is full; the message names the target.
    """
    require_regular(target)
    named = target
    if follow:
        target = Path(os.path.realpath(target))
    target.parent.mkdir(parents=True, exist_ok=True)
    _delete_stale(target)
    # Not tempfile.mkstemp: its files are private to the user, and stay so when renamed.
    part = target.with_name(f"{_start_of_part(target)}{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(target)
    except OSError as error:
        # The system's error for a full disk does not name a file.
        is_unnamed = error.filename is None and error.errno in _OF_DISKS
        if is_unnamed or error.filename == os.fspath(part):
            error.filename = os.fspath(named)
        raise
    finally:
        part.unlink(missing_ok=True)


def require_regular(target: Path) -> None:
    """Raise an error if a path exists and is a folder, a device or a pipe."""
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "not a regular file"
        raise FileExistsError(
            f"{target}: cannot be written because it is {kind}. Choose another name."
        )


def require_own_file(target: Path, is_ours: Callable[[bytes], bool], what: str) -> None:
    """Raise an error instead of overwriting a file that unbraid did not write.

    Args:
        target: Path of the output.
        is_ours: Function that tells whether bytes are an earlier output of this kind.
        what: Kind of the output for the message, such as ``"a report"``.

    Raises:
        FileExistsError: If the path holds something else.
    """
    require_regular(target)
    if target.is_file() and not is_ours(target.read_bytes()):
        raise FileExistsError(
            f"{target}: this file is not {what} that unbraid wrote, and is not "
            "overwritten. Delete it, or choose another name."
        )


def set_aside(path: Path) -> Path | None:
    """Rename whatever is at a path, so that its name is free and nothing is lost.

    Args:
        path: A file, a folder or a link, even a broken one.

    Returns:
        The new path, with ``.damaged`` added to the name, and a number if that is
        taken; ``None`` if there was nothing.
    """
    number = 1
    while True:
        end = ".damaged" if number == 1 else f".damaged-{number}"
        aside = path.with_name(path.name + end)
        if not os.path.lexists(aside):
            break
        number += 1
    try:
        path.rename(aside)
    except FileNotFoundError:
        return None
    return aside


def delete_own_files(
    folder: Path, names: Collection[str], *, folders: Collection[str] = ()
) -> int:
    """Delete our own files in a folder, and the folder if it is empty then.

    Args:
        folder: Folder of the files; a link to a folder is left alone.
        names: Names of the files.
        folders: Names of subfolders that are deleted with everything in them.

    Returns:
        Number of files deleted.
    """
    if folder.is_symlink() or not folder.is_dir():
        return 0
    n_files = 0
    for path in sorted(folder.iterdir()):
        if path.is_dir() and not path.is_symlink():
            if path.name in folders:
                n_files += sum(part.is_file() for part in path.rglob("*"))
                shutil.rmtree(path, ignore_errors=True)
        elif path.name in names or is_part(path.name):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                n_files += 1
    with contextlib.suppress(OSError):  # it holds files of somebody else
        folder.rmdir()
    return n_files


def printable_name(name: str) -> str:
    r"""Return a file name on one line, with unprintable characters escaped.

    Backslashes, line breaks and other unprintable characters are written as in
    Python; a byte that is not UTF-8 becomes ``\x`` and two digits.

    Example:
        >>> print(printable_name("two\nlines"), printable_name("caf\udce9.png"))
        two\nlines caf\xe9.png
    """
    return "".join(map(_printable, name))


def _printable(letter: str) -> str:
    if 0xDC80 <= ord(letter) <= 0xDCFF:  # how Python keeps a byte that is not UTF-8
        return f"\\x{ord(letter) - 0xDC00:02x}"
    if letter.isprintable() and letter != "\\":
        return letter
    short = {"\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
    wide = f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"
    return short.get(letter, wide)


def cache_folder() -> Path:
    """Return the cache folder: ``UNBRAID_CACHE``, or the user's cache."""
    chosen = os.environ.get("UNBRAID_CACHE") or platformdirs.user_cache_path("unbraid")
    return expand_user(chosen)


def require_space(folder: Path, n_bytes: int) -> None:
    """Raise an error if the disk of a folder has too little free space."""
    existing = folder
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free
    if free < n_bytes:
        raise OSError(
            f"{folder}: this needs {n_bytes / 1e6:.0f} MB of free disk space, but only "
            f"{free / 1e6:.0f} MB are free. Free some space, or keep the data on "
            "another disk (root=..., or the environment variable UNBRAID_DATA)."
        )


def is_part(name: str) -> bool:
    """Return whether a name is that of an unfinished file."""
    return _PART.fullmatch(name) is not None


def _start_of_part(target: Path) -> str:
    """Return how the name of an unfinished file begins; systems limit its length."""
    name = target.name
    while len(os.fsencode(name)) > _LONGEST_START:
        name = name[:-1]
    return f".{name}."


def _delete_stale(target: Path) -> None:
    start = _start_of_part(target)
    for part in target.parent.iterdir():
        if not part.name.startswith(start) or not is_part(part.name):
            continue
        # Another process may delete it first, or may own the file.
        with contextlib.suppress(OSError):
            if time.time() - part.stat().st_mtime > _STALE_SECONDS:
                part.unlink()
