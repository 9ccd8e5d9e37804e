"""The binary matrix format of the NORB files, plain or gzipped."""

import contextlib
import gzip
import io
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.data._memory_map import BLOCK_BYTES, require_layout
from unbraid.foundation import DataFormatError

_TYPES = {
    0x1E3D4C51: "<f4",
    0x1E3D4C53: "<f8",
    0x1E3D4C54: "<i4",
    0x1E3D4C55: "|u1",
    0x1E3D4C56: "<i2",
}


def norb_matrix(
    path: Path, dtype: str, shape: tuple[int | None, ...]
) -> NDArray[np.generic]:
    """A whole matrix, read into memory.

    Args:
        path: File ``.mat`` or ``.mat.gz``; not MATLAB's format in spite of its name.
        dtype: Type that its numbers must have.
        shape: Shape that it must have, ``None`` for any number.

    Raises:
        DataFormatError: If the file is damaged, or holds something else.
    """
    return np.concatenate(list(norb_blocks(path, dtype, shape)))


def norb_blocks(
    path: Path, dtype: str, shape: tuple[int | None, ...]
) -> Iterator[NDArray[Any]]:
    """The same matrix, some rows at a time."""
    with _opened(path) as file:
        found_type, (n_rows, *rest) = _header(path, file)
        require_layout(str(path), (n_rows, *rest), found_type, shape, dtype)
        row_bytes = math.prod(rest) * found_type.itemsize
        step = max(1, BLOCK_BYTES // row_bytes)
        for first in range(0, n_rows, step):
            count = min(step, n_rows - first)
            data = _exactly(file, count * row_bytes)
            yield np.frombuffer(data, dtype=found_type).reshape(count, *rest)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[io.BufferedIOBase]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, OSError, MemoryError) as error:
        raise DataFormatError(
            f"{path}: expected a complete NORB matrix, got a file that cannot be read "
            f"({error}). If it is damaged, delete it and get it again."
        ) from error


def _header(
    path: Path, file: io.BufferedIOBase
) -> tuple[np.dtype[Any], tuple[int, ...]]:
    magic, n_axes = np.frombuffer(_exactly(file, 8), dtype="<i4").tolist()
    if magic not in _TYPES or not 1 <= n_axes <= 8:
        raise DataFormatError(
            f"{path}: expected a NORB matrix, got a file that starts otherwise. "
            "This is not the published file: get it again."
        )
    # At least three sizes are written, whatever the number of axes.
    sizes = np.frombuffer(_exactly(file, 4 * max(3, n_axes)), dtype="<i4").tolist()
    return np.dtype(_TYPES[magic]), tuple(sizes[:n_axes])


def _exactly(file: io.BufferedIOBase, n_bytes: int) -> bytes:
    data = file.read(n_bytes)
    if len(data) < n_bytes:
        raise EOFError("it ends too early")
    return data
