"""List of the pictures in a folder, with their sizes and times."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from ._picture import SUFFIXES


class Stamp(NamedTuple):
    """Relative path of a picture, and numbers that change if the picture changes."""

    name: str
    size: int
    modified: int
    changed: int


def list_pictures(root: Path) -> tuple[Stamp, ...]:
    """List all pictures in a folder and its sub-folders, sorted by name.

    Hidden files and folders, and files without the suffix of a picture, are ignored.
    """
    files = list(_files(root))
    pictures = [name for name in files if name.lower().endswith(SUFFIXES)]
    if not pictures:
        raise FileNotFoundError(
            f"There are no pictures ({', '.join(SUFFIXES)}) among the {len(files)} "
            f"files in {str(root)!r} and its sub-folders."
        )
    return tuple(_stamp(root, name) for name in sorted(pictures))


def _files(root: Path) -> Iterator[str]:
    seen: set[tuple[int, int]] = set()
    for folder, subfolders, files in os.walk(root, followlinks=True, onerror=_refuse):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:  # a link to a parent folder
            subfolders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        subfolders[:] = sorted(name for name in subfolders if name[0] != ".")
        within = Path(folder).relative_to(root)
        yield from ((within / name).as_posix() for name in files if name[0] != ".")


def _refuse(error: OSError) -> NoReturn:
    raise OSError(
        f"The folder {error.filename!r} cannot be read ({error.strerror}). Change its "
        "permissions, or move it elsewhere."
    ) from error


def _stamp(root: Path, name: str) -> Stamp:
    try:
        status = os.stat(root / name)
    except OSError:  # for example a broken link, which is reported when it is read
        return Stamp(name, -1, 0, 0)
    # The time of change also detects new permissions, and a picture that was replaced
    # by an older one.
    return Stamp(name, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
