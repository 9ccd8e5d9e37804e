"""Which pictures lie in a folder, and when each was last changed."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from ._picture import SUFFIXES


class Stamp(NamedTuple):
    """A picture's name below the folder, and numbers that change when it does."""

    name: str
    size: int
    modified: int
    changed: int


def list_pictures(root: Path) -> tuple[Stamp, ...]:
    """Every picture in a folder and its sub-folders, sorted by name.

    Hidden files and folders are passed over, as is whatever has no picture's suffix.
    """
    files = list(_files(root))
    pictures = [name for name in files if name.lower().endswith(SUFFIXES)]
    if not pictures:
        raise FileNotFoundError(
            f"ImageFolder: expected pictures ({', '.join(SUFFIXES)}) in {str(root)!r} "
            f"or its sub-folders, got none among {len(files)} files."
        )
    return tuple(_stamp(root, name) for name in sorted(pictures))


def _files(root: Path) -> Iterator[str]:
    seen: set[tuple[int, int]] = set()
    for folder, subfolders, files in os.walk(root, followlinks=True, onerror=_refuse):
        status = os.stat(folder)
        if (status.st_dev, status.st_ino) in seen:  # a link that leads back
            subfolders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        subfolders[:] = sorted(name for name in subfolders if name[0] != ".")
        within = Path(folder).relative_to(root)
        yield from ((within / name).as_posix() for name in files if name[0] != ".")


def _refuse(error: OSError) -> NoReturn:
    raise OSError(
        f"ImageFolder: expected folders that can be read, got {error.filename!r} "
        f"({error.strerror}). Change its permissions, or move it away."
    ) from error


def _stamp(root: Path, name: str) -> Stamp:
    try:
        status = os.stat(root / name)
    except OSError:  # a dangling link: reading it later gives the reason
        return Stamp(name, -1, 0, 0)
    # The time of change sees what the time of modification does not: new permissions,
    # and a picture replaced by an older one.
    return Stamp(name, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
