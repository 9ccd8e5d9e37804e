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
    """Read a matrix into memory.

    Args:
        path: Path of a ``.mat`` or ``.mat.gz`` file, which is not in MATLAB's format.
        dtype: Required type of the numbers.
        shape: Required shape, with ``None`` for any length.

    Raises:
        DataFormatError: If the file is damaged, or has another content.
    """
    return np.concatenate(list(norb_blocks(path, dtype, shape)))


def norb_blocks(
    path: Path, dtype: str, shape: tuple[int | None, ...]
) -> Iterator[NDArray[Any]]:
    """Read a matrix in blocks of rows."""
    with _open(path) as file:
        found_type, (n_rows, *rest) = _header(path, file)
        require_layout(str(path), (n_rows, *rest), found_type, shape, dtype)
        row_bytes = math.prod(rest) * found_type.itemsize
        step = max(1, BLOCK_BYTES // row_bytes)
        for first in range(0, n_rows, step):
            count = min(step, n_rows - first)
            data = _read_exactly(file, count * row_bytes)
            yield np.frombuffer(data, dtype=found_type).reshape(count, *rest)


@contextlib.contextmanager
def _open(path: Path) -> Iterator[io.BufferedIOBase]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield file
    except (EOFError, zlib.error, OSError, MemoryError) as error:
        raise DataFormatError(
            f"{path} cannot be read as a NORB matrix ({error}). If it is damaged, "
            "delete it and download it again."
        ) from error


def _header(
    path: Path, file: io.BufferedIOBase
) -> tuple[np.dtype[Any], tuple[int, ...]]:
    magic, n_axes = np.frombuffer(_read_exactly(file, 8), dtype="<i4").tolist()
    if magic not in _TYPES or not 1 <= n_axes <= 8:
        raise DataFormatError(
            f"{path} does not start like a NORB matrix. "
            "This is not the published file: download it again."
        )
    # The file contains at least three sizes, for any number of axes.
    data = _read_exactly(file, 4 * max(3, n_axes))
    sizes = np.frombuffer(data, dtype="<i4").tolist()
    return np.dtype(_TYPES[magic]), tuple(sizes[:n_axes])


def _read_exactly(file: io.BufferedIOBase, n_bytes: int) -> bytes:
    data = file.read(n_bytes)
    if len(data) < n_bytes:
        raise EOFError("it ends too early")
    return data
