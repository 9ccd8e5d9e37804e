"""A folder of pictures, decoded once and kept as one memory-mapped array."""

import contextlib
import hashlib
import json
import os
import time
import warnings
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data._progress import progress_bar
from unbraid.foundation import (
    DataFormatError,
    atomic_write,
    cache_folder,
    require_space,
)

from ._picture import Framing, describe_fault, read_picture
from ._picture_listing import Stamp

_FORMAT = 1  # to be increased if the pixels of a picture change
_AT_ONCE = 512
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


def cached_pictures(
    root: Path, stamps: tuple[Stamp, ...], framing: Framing, cache: Path
) -> CachedPictures:
    """Open the memory map of these files, or decode them and write it.

    An entry consists of two files, whose name is a hash of the folder, the framing and
    all stamps, so that it never changes. The JSON file is written last, so that an
    entry with a JSON file is complete. Several processes may build the same entry at
    once: each writes a temporary file and renames it, with the same content.
    """
    prefix = _hash([_FORMAT, str(root), framing.model_dump()])
    entry = cache / f"{prefix}-{_hash(stamps)}"
    found = _open(entry, stamps, framing)
    if found is None or _can_now_be_read(root, list(found.skipped), framing):
        try:
            cache.mkdir(parents=True, exist_ok=True)
            _build(root, stamps, framing, entry)
            _remove_stale(entry)
        except OSError as error:
            raise OSError(
                f"Cannot write to the cache folder {str(cache)!r} "
                f"({error.strerror or error}). Pass cache= or set UNBRAID_CACHE to "
                "another folder."
            ) from error
        found = _open(entry, stamps, framing)
    if found is None:
        raise DataFormatError(
            f"Cannot read {str(entry)!r}, which was just written. Pass cache= or set "
            "UNBRAID_CACHE to another disk."
        )
    return found


def _open(
    entry: Path, stamps: tuple[Stamp, ...], framing: Framing
) -> CachedPictures | None:
    try:
        record = json.loads(entry.with_suffix(".json").read_text())
        pixels = np.lib.format.open_memmap(entry.with_suffix(".npy"), mode="r")
        paths = tuple(s.name for s in stamps if s.name not in record["skipped"])
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


def _can_now_be_read(root: Path, skipped: list[str], framing: Framing) -> bool:
    # A picture may have failed for lack of memory, or by a limit that was changed.
    with contextlib.closing(_decode_all(root, skipped, framing)) as retried:
        return any(not isinstance(decoded, str) for decoded in retried)


def _build(
    root: Path, stamps: tuple[Stamp, ...], framing: Framing, entry: Path
) -> None:
    names = [stamp.name for stamp in stamps]
    skipped: dict[str, str] = {}
    digest = hashlib.sha256()
    n_bytes = len(names) * framing.height * framing.width * framing.channels
    require_space(entry.parent, n_bytes)
    with (
        atomic_write(entry.with_suffix(".npy")) as file,
        contextlib.closing(_decode_all(root, names, framing)) as all_decoded,
    ):
        # Written to a file and not to a memory map, because a full disk raises an error
        # in the first case and kills the process in the second.
        _write_header(file, len(names), framing)
        for name, decoded in zip(names, all_decoded, strict=True):
            if isinstance(decoded, str):
                skipped[name] = decoded
            else:
                file.write(data := decoded.tobytes())
                digest.update(data)
        if len(skipped) == len(names):
            raise DataFormatError(
                f"No picture in {str(root)!r} can be read: {describe(skipped)}."
            )
        file.seek(0)
        _write_header(file, len(names) - len(skipped), framing)
    record = {
        "format": _FORMAT,
        "folder": str(root),
        "framing": framing.model_dump(),
        "files": stamps,
        "skipped": skipped,
        "pixel_hash": digest.hexdigest(),
    }
    with atomic_write(entry.with_suffix(".json")) as file:
        file.write(json.dumps(record).encode("ascii"))


def _decode_all(
    root: Path, names: list[str], framing: Framing
) -> Generator[NDArray[np.uint8] | str, None, None]:
    """Yield the pixels of each picture, or the reason why it cannot be read."""
    decode = partial(_decode, root, framing)
    workers = min(8, (os.cpu_count() or 1) + 1)
    with (
        warnings.catch_warnings(),
        ThreadPoolExecutor(workers) as pool,
        progress_bar(len(names), "reading pictures", unit="pictures") as bar,
    ):
        # Set here and not in the threads, because warning filters are global.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for start in range(0, len(names), _AT_ONCE):
            yield from pool.map(decode, some := names[start : start + _AT_ONCE])
            bar.update(len(some))


def _decode(root: Path, framing: Framing, name: str) -> NDArray[np.uint8] | str:
    try:
        return read_picture(root / name, framing)
    except MemoryError:
        raise  # the picture may be fine
    except Exception as error:  # Pillow raises errors of any kind for broken files
        return describe_fault(error)


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
