"""Images of a file as a read-only memory map, converted once if necessary."""

import contextlib
import glob
import hashlib
import math
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike, NDArray

from unbraid.foundation import (
    DataFormatError,
    atomic_write,
    cache_folder,
    require_space,
)

from ._progress import progress_bar

Blocks = Iterator[tuple[int, NDArray[np.uint8]]]

# Number of bytes read at a time when a file is converted.
BLOCK_BYTES = 1 << 24


def convert_once(
    sources: Sequence[Path],
    label: str,
    make: Callable[[], tuple[tuple[int, ...], Blocks]],
) -> NDArray[np.uint8]:
    """Convert files to an array at the first call, and return it as a memory map.

    The array is a ``.npy`` file next to the first source, or in the user's cache folder
    if that folder is not writable. Its name contains a hash of the sizes and times of
    the sources, so that changed sources are converted again.

    Args:
        sources: Files or folders that the result depends on.
        label: Part of the name of the ``.npy`` file, without a dot.
        make: Function that returns the shape of the array, and an iterator over blocks
            of it: number of the first row, and ``uint8`` rows. Each row must be in one
            block, in any order.

    Returns:
        A read-only array.
    """
    stats = [(source.name, source.stat()) for source in sources]
    facts = [(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats]
    stamp = hashlib.sha256(repr(facts).encode()).hexdigest()[:12]
    prefix = f"{sources[0].name}.{label}"
    beside, cache = sources[0].parent, _cache(sources[0].parent)
    for folder in (beside, cache):
        target = folder / f"{prefix}.{stamp}.npy"
        if target.is_file():
            return _load(target)
    target = (beside if os.access(beside, os.W_OK) else cache) / target.name
    _write(target, *make())
    for outdated in target.parent.glob(f"{glob.escape(prefix)}.{'?' * 12}.npy"):
        if outdated != target:
            with contextlib.suppress(OSError):
                outdated.unlink()
    return _load(target)


def map_bytes(path: Path, offset: int, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return a memory map of the bytes of a file from ``offset`` on."""
    pixels = np.memmap(path, dtype=np.uint8, mode="r", offset=offset, shape=shape)
    # As a plain array, because indexing the subclass is slower.
    return np.asarray(pixels)


def require_layout(
    where: str,
    shape: tuple[int, ...],
    dtype: DTypeLike,
    expected: tuple[int | None, ...],
    expected_dtype: DTypeLike = np.uint8,
) -> None:
    """Raise DataFormatError unless an array has the expected shape and type.

    Args:
        where: File and name of the array, for the error message.
        shape: Shape of the array.
        dtype: Type of the array.
        expected: Required shape, with ``None`` for any length of at least 1.
        expected_dtype: Required type.
    """
    fits = len(shape) == len(expected) and all(
        found >= 1 and wanted in (None, found)
        for found, wanted in zip(shape, expected, strict=True)
    )
    if not fits or np.dtype(dtype) != np.dtype(expected_dtype):
        wanted = ", ".join("any" if size is None else str(size) for size in expected)
        raise DataFormatError(
            f"{where} must be {np.dtype(expected_dtype)} of shape ({wanted}), got "
            f"{np.dtype(dtype)} of shape {shape}. "
            "This is not the published file: download it again."
        )


def _cache(folder: Path) -> Path:
    # Different folders may contain files of the same name.
    digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
    return cache_folder() / "converted" / digest


def _load(path: Path) -> NDArray[np.uint8]:
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError) as error:
        raise DataFormatError(
            f"{path} is not the array that unbraid saved there ({error}). Delete it: "
            "it will be created again."
        ) from error


def _write(target: Path, shape: tuple[int, ...], blocks: Blocks) -> None:
    require_space(target.parent, math.prod(shape))
    header = {"descr": "|u1", "fortran_order": False, "shape": shape}
    row_bytes, rows = math.prod(shape[1:]), 0
    with (
        atomic_write(target) as file,
        progress_bar(shape[0], f"converting {target.name}", unit="images") as bar,
    ):
        np.lib.format.write_array_header_1_0(file, header)
        start = file.tell()
        for first, images in blocks:
            file.seek(start + first * row_bytes)
            file.write(np.ascontiguousarray(images).data)
            rows += len(images)
            bar.update(len(images))
        if rows != shape[0]:
            raise DataFormatError(
                f"{target.name} must contain {shape[0]} images, got {rows}."
            )
