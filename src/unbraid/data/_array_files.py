"""Read arrays from .npy, .npz and .h5 files, which may be damaged or malicious."""

import contextlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import DataFormatError, UnbraidError, require_regular_file

from ._npz import npz_array, npz_names

SUFFIXES = (".npy", ".npz", ".h5", ".hdf5")

_NPY_START = b"\x93NUMPY"


def array_names(path: Path) -> list[str]:
    """Return the names of the arrays in a file; one empty name for a .npy file.

    Raises:
        DataFormatError: If the file cannot be read.
        OSError: If it is not a regular file.
    """
    require_regular_file(path)
    if is_npy(path):
        return [""]
    if path.suffix.lower() == ".npz":
        return npz_names(path)
    from ._hdf5 import hdf5_names  # h5py is slow to import

    return hdf5_names(path)


def read_array(path: Path, name: str = "") -> NDArray[Any]:
    """Return an array of a file: a memory map for .npy, a copy in memory otherwise.

    Args:
        path: Path of a .npy, .npz, .h5 or .hdf5 file.
        name: Name of the array, one of :func:`array_names`.

    Raises:
        DataFormatError: If the file cannot be read, or refers to another file.
        NotEnoughMemoryError: If the array does not fit into memory.
        OSError: If it is not a regular file.
    """
    require_regular_file(path)
    if is_npy(path):
        return open_npy(path)
    if path.suffix.lower() == ".npz":
        return npz_array(path, name)
    from ._hdf5 import hdf5_array  # h5py is slow to import

    return hdf5_array(path, name)


def is_npy(path: Path) -> bool:
    """Whether a file is a .npy file, by its suffix, or by content if it says .npz."""
    if path.suffix.lower() == ".npy":
        return True
    if path.suffix.lower() != ".npz":
        return False
    with path.open("rb") as file:
        return file.read(len(_NPY_START)) == _NPY_START


def open_npy(path: Path) -> NDArray[Any]:
    """Return a memory map of a .npy file; only its header is read.

    Raises:
        DataFormatError: If it is damaged, or contains Python objects.
        OSError: If it is not a regular file.
    """
    n_bytes = require_regular_file(path)
    with _readable_npy(path, n_bytes):
        return np.lib.format.open_memmap(path, mode="r")


@contextlib.contextmanager
def _readable_npy(path: Path, n_bytes: int) -> Iterator[None]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns of unusual headers
            yield
    except (UnbraidError, PermissionError):
        raise
    except Exception as error:  # damaged headers raise errors of any kind
        reason = _npy_reason(path, n_bytes, error)
        raise DataFormatError(
            f"{path} cannot be read as a .npy file: {reason}"
        ) from error


def _npy_reason(path: Path, n_bytes: int, error: Exception) -> str:
    if n_bytes == 0:
        return "it is empty."
    with path.open("rb") as file:
        start = file.read(len(_NPY_START))
    if start != _NPY_START:
        return "it does not start like one."
    if "object" in str(error).lower():
        return "it contains Python objects, which are never loaded."
    return "its header is damaged, or it is incomplete."
