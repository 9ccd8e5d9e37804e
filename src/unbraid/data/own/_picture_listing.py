"""List of the pictures in a folder, with their sizes and times."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from ._picture import SUFFIXES
from ._video import VIDEO_SUFFIXES


class Stamp(NamedTuple):
    """Relative path of a picture, and numbers that change if the picture changes."""

    name: str
    size: int
    modified: int
    changed: int


def list_pictures(path: Path, *, videos: bool = False) -> tuple[Stamp, ...]:
    """List all pictures in a folder and its sub-folders, sorted by name.

    Hidden files and folders, and files without the suffix of a picture, are ignored.

    Args:
        path: Path of the folder, or of a single picture or video.
        videos: Whether to list the videos of a folder as well.
    """
    if path.is_file():
        return (_stamp(path.parent, path.name),)
    files = list(_files(path))
    suffixes = (*SUFFIXES, *VIDEO_SUFFIXES) if videos else SUFFIXES
    pictures = [name for name in files if name.lower().endswith(suffixes)]
    if not pictures:
        n_videos = sum(name.lower().endswith(VIDEO_SUFFIXES) for name in files)
        advice = ""
        if n_videos:
            advice = (
                f" To use the frames of its {n_videos} video(s), pass videos=True, or "
                "write FOLDER:videos=true on the command line."
            )
        raise FileNotFoundError(
            f"There are no pictures ({', '.join(suffixes)}) among the {len(files)} "
            f"files in {str(path)!r} and its sub-folders.{advice}"
        )
    return tuple(_stamp(path, name) for name in sorted(pictures))


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
