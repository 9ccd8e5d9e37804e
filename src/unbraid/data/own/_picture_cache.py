"""A folder of pictures, decoded once and kept as one memory-mapped array."""

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import (
    DataFormatError,
    atomic_write,
    cache_folder,
    require_space,
)

from ._frames import is_video, name_frame, split_frame_name
from ._picture import Framing
from ._picture_decoding import PictureFiles, decode_all
from ._video import require_video_reader

_FORMAT = 2  # to be increased if the pixels of a picture change
_STALE_SECONDS = 3600.0


@dataclass(frozen=True)
class CachedPictures:
    """Pixels ``(n, height, width, channels)`` and the files they were read from."""

    path: Path
    pixels: NDArray[np.uint8]
    pixel_hash: str
    paths: tuple[str, ...]
    skipped: dict[str, str]


def default_cache() -> Path:
    """Return the default folder of decoded pictures."""
    return cache_folder() / "pictures"


def cached_pictures(files: PictureFiles, cache: Path) -> CachedPictures:
    """Open the memory map of these files, or decode them and write it.

    An entry consists of two files, whose name is a hash of the folder, the framing and
    all stamps, so that it never changes. The JSON file is written last, so that an
    entry with a JSON file is complete. Several processes may build the same entry at
    once: each writes a temporary file and renames it, with the same content.
    """
    how = [files.framing.model_dump(), files.frame_step]
    prefix = _hash([_FORMAT, str(files.path), *how])
    entry = cache / f"{prefix}-{_hash(files.stamps)}"
    found = _open(entry, files)
    if found is None or _can_now_be_read(files, found.skipped):
        if any(is_video(Path(stamp.name)) for stamp in files.stamps):
            require_video_reader()
        try:
            cache.mkdir(parents=True, exist_ok=True)
            _build(files, entry)
            _remove_stale(entry)
        except OSError as error:
            raise OSError(
                f"Cannot write to the cache folder {str(cache)!r} "
                f"({error.strerror or error}). Pass cache= or set UNBRAID_CACHE to "
                "another folder."
            ) from error
        found = _open(entry, files)
    if found is None:
        raise DataFormatError(
            f"Cannot read {str(entry)!r}, which was just written. Pass cache= or set "
            "UNBRAID_CACHE to another disk."
        )
    return found


def _open(entry: Path, files: PictureFiles) -> CachedPictures | None:
    framing = files.framing
    try:
        record = json.loads(entry.with_suffix(".json").read_text())
        pixels = np.lib.format.open_memmap(entry.with_suffix(".npy"), mode="r")
        paths = tuple(_list_paths(files, record["frames"], record["skipped"]))
        shape = (len(paths), framing.height, framing.width, framing.channels)
        if pixels.shape != shape or pixels.dtype != np.uint8:
            return None
        return CachedPictures(
            path=entry.with_suffix(".npy"),
            pixels=pixels.view(np.ndarray),
            pixel_hash=record["pixel_hash"],
            paths=paths,
            skipped=record["skipped"],
        )
    except (OSError, ValueError, KeyError, TypeError):  # absent or damaged
        return None


def _list_paths(
    files: PictureFiles, frames: dict[str, list[int]], skipped: dict[str, str]
) -> Iterator[str]:
    """Yield the name of each image: its file, or a frame of its file."""
    for stamp in files.stamps:
        if stamp.name in frames:
            yield from (name_frame(stamp.name, index) for index in frames[stamp.name])
        elif stamp.name not in skipped:
            yield stamp.name


def _can_now_be_read(files: PictureFiles, skipped: dict[str, str]) -> bool:
    # A picture may have failed for lack of memory, or by a limit that was changed.
    names = list(dict.fromkeys(split_frame_name(name)[0] for name in skipped))
    with contextlib.closing(decode_all(files, names)) as retried:
        return any(
            name in skipped and not isinstance(decoded, str)
            for name, decoded in retried
        )


def _build(files: PictureFiles, entry: Path) -> None:
    names, framing = [stamp.name for stamp in files.stamps], files.framing
    skipped: dict[str, str] = {}
    frames: dict[str, list[int]] = {}
    n_images = 0
    digest = hashlib.sha256()
    n_bytes = len(names) * framing.height * framing.width * framing.channels
    require_space(entry.parent, n_bytes)
    with (
        atomic_write(entry.with_suffix(".npy")) as file,
        contextlib.closing(decode_all(files, names)) as all_decoded,
    ):
        # Written to a file and not to a memory map, because a full disk raises an error
        # in the first case and kills the process in the second.
        _write_header(file, len(names), framing)
        for name, decoded in all_decoded:
            if isinstance(decoded, str):
                skipped[name] = decoded
                continue
            file.write(data := decoded.tobytes())
            digest.update(data)
            n_images += 1
            owner, index = split_frame_name(name)
            if index is not None:
                frames.setdefault(owner, []).append(index)
        if not n_images:
            raise DataFormatError(
                f"No picture in {str(files.path)!r} can be read: {describe(skipped)}."
            )
        file.seek(0)
        _write_header(file, n_images, framing)
    record = {
        "format": _FORMAT,
        "folder": str(files.path),
        "framing": framing.model_dump(),
        "files": files.stamps,
        "frames": frames,
        "skipped": skipped,
        "pixel_hash": digest.hexdigest(),
    }
    with atomic_write(entry.with_suffix(".json")) as file:
        file.write(json.dumps(record).encode("ascii"))


def describe(skipped: dict[str, str]) -> str:
    """List the first few broken pictures with their reasons, for a message."""
    shown = [f"{name!r} ({why})" for name, why in list(skipped.items())[:3]]
    more = len(skipped) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def _write_header(file: IO[bytes], n: int, framing: Framing) -> None:
    # NumPy pads the header for any length of the first axis, so that n may change.
    shape = (n, framing.height, framing.width, framing.channels)
    np.lib.format.write_array_header_1_0(
        file, {"descr": "|u1", "fortran_order": False, "shape": shape}
    )


def _remove_stale(entry: Path) -> None:
    """Remove old entries of the same folder and framing."""
    prefix = entry.name.split("-")[0]
    for path in entry.parent.glob(f"{prefix}-*"):
        # Recent files may belong to another process that is still writing them.
        with contextlib.suppress(OSError):
            age = time.time() - path.stat().st_mtime
            if age > _STALE_SECONDS and path.stem != entry.name:
                path.unlink()


def _hash(content: Any) -> str:
    # As ASCII JSON, because file names are not always valid Unicode.
    return hashlib.sha256(json.dumps(content).encode("ascii")).hexdigest()[:16]
