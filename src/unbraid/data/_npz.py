"""Arrays of an .npz file, one at a time: pickled members are never touched."""

import contextlib
import math
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unbraid.errors import DataFormatError

from ._memory_map import BLOCK_BYTES, Blocks, converted_once, mapped, require_layout

# What numpy raises for a header that makes no sense.
_BAD_HEADER = (ValueError, SyntaxError, tokenize.TokenError, MemoryError)
# What zipfile raises; RuntimeError for encryption and unknown compression.
_BAD_ZIP = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError)


def npz_images(
    path: Path, key: str, *, shape: tuple[int | None, ...]
) -> NDArray[np.uint8]:
    """Memory map of a ``uint8`` member of an .npz file.

    A member that is stored as it is gets mapped in place; a compressed one is converted
    once, in pieces.

    Args:
        path: The .npz file.
        key: Name of the member.
        shape: Shape it must have, ``None`` for any number.

    Raises:
        DataFormatError: If the file is damaged, or holds something else.
    """
    with _member(path, key) as (info, stream):
        found, dtype = _header(path, key, stream)
        header_bytes = stream.tell()
    require_layout(f"{path}, {key}", found, dtype, shape)
    if info.compress_type == zipfile.ZIP_STORED:
        start = _data_offset(path, info) + header_bytes
        if start + math.prod(found) > path.stat().st_size:
            raise DataFormatError(_unreadable(path, "it ends too early"))
        return mapped(path, start, found)
    return converted_once([path], key, lambda: (found, _blocks(path, key)))


def npz_shape(path: Path, key: str) -> tuple[int, ...]:
    """Shape of a member of an .npz file, from its header alone."""
    with _member(path, key) as (_, stream):
        return _header(path, key, stream)[0]


def npz_array(path: Path, key: str) -> NDArray[Any]:
    """A member of an .npz file, read into memory; never a pickled one."""
    with _member(path, key) as (_, stream):
        try:
            return np.lib.format.read_array(stream, allow_pickle=False)
        except _BAD_HEADER as error:
            raise DataFormatError(_unreadable(path, f"{key}: {error}")) from error


@contextlib.contextmanager
def _member(path: Path, key: str) -> Iterator[tuple[zipfile.ZipInfo, IO[bytes]]]:
    try:
        with zipfile.ZipFile(path) as archive:
            if f"{key}.npy" not in archive.namelist():
                names = ", ".join(archive.namelist()) or "nothing"
                raise DataFormatError(
                    f"{path}: expected a member {key}.npy, got {names}. "
                    "This is not the published file: get it again."
                )
            with archive.open(f"{key}.npy") as stream:
                yield archive.getinfo(f"{key}.npy"), stream
    except _BAD_ZIP as error:
        raise DataFormatError(_unreadable(path, str(error))) from error


def _header(
    path: Path, key: str, stream: IO[bytes]
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    try:
        if np.lib.format.read_magic(stream) == (1, 0):
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    except _BAD_HEADER as error:
        raise DataFormatError(_unreadable(path, f"{key}: {error}")) from error
    if is_fortran:
        raise DataFormatError(
            f"{path}, {key}: expected images one after the other, got Fortran order. "
            "This is not the published file: get it again."
        )
    return shape, dtype


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes start: the directory does not say, its own header does."""
    with path.open("rb") as file:
        file.seek(info.header_offset)
        header = file.read(30)
    name_length, extra_length = struct.unpack("<HH", header[26:30])
    return info.header_offset + 30 + name_length + extra_length


def _blocks(path: Path, key: str) -> Blocks:
    with _member(path, key) as (_, stream):
        (n_images, *rest), _dtype = _header(path, key, stream)
        image_bytes = math.prod(rest)
        step = max(1, BLOCK_BYTES // image_bytes)
        for first in range(0, n_images, step):
            count = min(step, n_images - first)
            data = stream.read(count * image_bytes)
            if len(data) < count * image_bytes:
                raise EOFError("it ends too early")
            yield first, np.frombuffer(data, dtype=np.uint8).reshape(count, *rest)


def _unreadable(path: Path, reason: str) -> str:
    return (
        f"{path}: expected a complete .npz file, got one that cannot be read "
        f"({reason}). If it is damaged, delete it and get it again."
    )
