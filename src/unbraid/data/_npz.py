"""Arrays of an .npz file; pickled members are never loaded."""

import contextlib
import math
import struct
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import (
    DataFormatError,
    UnbraidError,
    require_memory,
    require_regular_file,
)

from ._memory_map import (
    BLOCK_BYTES,
    Blocks,
    convert_once,
    map_bytes,
    require_layout,
)


def npz_images(
    path: Path, key: str, *, shape: tuple[int | None, ...]
) -> NDArray[np.uint8]:
    """Return a memory map of a ``uint8`` member of an .npz file.

    An uncompressed member is mapped directly. A compressed one is converted to a file
    once, in blocks.

    Args:
        path: Path of the .npz file.
        key: Name of the member.
        shape: Required shape, with ``None`` for any length.

    Raises:
        DataFormatError: If the file is damaged, or has another content.
    """
    with _member(path, key) as (info, stream):
        found, is_fortran, dtype = _header(path, key, info, stream)
        header_bytes = stream.tell()
    require_layout(f"{path}, {key}", found, dtype, shape)
    if is_fortran:
        raise DataFormatError(
            f"{path}, {key} must be in C order, got Fortran order. "
            "This is not the published file: download it again."
        )
    if info.compress_type == zipfile.ZIP_STORED:
        start = _data_offset(path, info) + header_bytes
        if start + math.prod(found) > path.stat().st_size:
            raise DataFormatError(_unreadable(path, "it ends too early"))
        return map_bytes(path, start, found)
    return convert_once([path], key, lambda: (found, _blocks(path, key)))


def npz_shape(path: Path, key: str) -> tuple[int, ...]:
    """Return the shape of a member of an .npz file; only its header is read."""
    with _member(path, key) as (info, stream):
        return _header(path, key, info, stream)[0]


def npz_array(path: Path, key: str) -> NDArray[Any]:
    """Read a member of an .npz file into memory; never a pickled one.

    Raises:
        DataFormatError: If the file is damaged, or has no such member.
        NotEnoughMemoryError: If the array does not fit into memory.
    """
    with _member(path, key) as (info, stream):
        shape, _, dtype = _header(path, key, info, stream)
        require_memory(math.prod(shape) * dtype.itemsize, f"{path}, {key}")
    with _member(path, key) as (_, stream):
        return np.lib.format.read_array(stream, allow_pickle=False)


def npz_names(path: Path) -> list[str]:
    """Return the names of the arrays in an .npz file."""
    with _open(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".npy")]
    return [name.removesuffix(".npy") for name in dict.fromkeys(names)]


@contextlib.contextmanager
def _open(path: Path) -> Iterator[zipfile.ZipFile]:
    require_regular_file(path)
    try:
        with zipfile.ZipFile(path) as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of unusual headers
            yield archive
    except (UnbraidError, PermissionError):
        raise
    # For damaged files, zipfile, zlib and numpy raise errors of any kind.
    except Exception as error:
        raise DataFormatError(_unreadable(path, _reason(error))) from error


@contextlib.contextmanager
def _member(path: Path, key: str) -> Iterator[tuple[zipfile.ZipInfo, IO[bytes]]]:
    with _open(path) as archive:
        if f"{key}.npy" not in archive.namelist():
            names = ", ".join(archive.namelist()) or "nothing"
            raise DataFormatError(
                f"{path} must contain a member {key}.npy, got {names}. "
                "This is not the published file: download it again."
            )
        info = archive.getinfo(f"{key}.npy")
        if info.flag_bits & 1:
            raise DataFormatError(
                f"{path}: the member {info.filename} is encrypted. Save the arrays "
                "without a password."
            )
        with archive.open(info) as stream:
            yield info, stream


def _header(
    path: Path, key: str, info: zipfile.ZipInfo, stream: IO[bytes]
) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    if np.lib.format.read_magic(stream) == (1, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    else:
        shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    if dtype.hasobject:
        raise DataFormatError(
            f"{path} cannot be read: {key} contains Python objects, which are never "
            "loaded."
        )
    if math.prod(shape) * dtype.itemsize > info.file_size - stream.tell():
        raise DataFormatError(_unreadable(path, f"{key} ends too early"))
    return shape, is_fortran, dtype


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Return the offset of a member's bytes, which only its own header determines."""
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(30)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    return info.header_offset + 30 + name_length + extra_length


def _blocks(path: Path, key: str) -> Blocks:
    with _member(path, key) as (info, stream):
        (n_images, *rest), _, _ = _header(path, key, info, stream)
        image_bytes = math.prod(rest)
        step = max(1, BLOCK_BYTES // image_bytes)
        for first in range(0, n_images, step):
            count = min(step, n_images - first)
            data = stream.read(count * image_bytes)
            if len(data) < count * image_bytes:
                raise EOFError("it ends too early")
            yield first, np.frombuffer(data, dtype=np.uint8).reshape(count, *rest)


def _reason(error: Exception) -> str:
    if isinstance(error, NotImplementedError):
        return "its compression is unknown"
    return "an array in it is damaged" if isinstance(error, ValueError) else "damaged"


def _unreadable(path: Path, reason: str) -> str:
    return (
        f"{path} cannot be read as an .npz file ({reason}). If it is damaged, delete "
        "it and download it again."
    )
