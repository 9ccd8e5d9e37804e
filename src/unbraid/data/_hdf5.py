"""Arrays of an HDF5 file, mapped in place where the file allows it."""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from unbraid.errors import DataFormatError

from ._memory_map import BLOCK_BYTES, Blocks, converted_once, mapped, require_layout


def hdf5_images(
    path: Path, key: str, *, shape: tuple[int | None, ...]
) -> NDArray[np.uint8]:
    """Memory map of a ``uint8`` dataset in an HDF5 file.

    A contiguous dataset is mapped in place; one in chunks, compressed or not, is
    converted once, in pieces.

    Args:
        path: The HDF5 file.
        key: Name of the dataset.
        shape: Shape it must have, ``None`` for any number.

    Raises:
        DataFormatError: If the file is damaged, or has no such dataset.
    """
    with _dataset(path, key) as dataset:
        found = dataset.shape
        require_layout(f"{path}, {key}", found, dataset.dtype, shape)
        is_contiguous = dataset.chunks is None and not dataset.is_virtual
        offset = dataset.id.get_offset() if is_contiguous else None
    if offset is not None and offset + math.prod(found) <= path.stat().st_size:
        return mapped(path, offset, found)
    label = key.replace("/", "-")
    return converted_once([path], label, lambda: (found, _blocks(path, key)))


def hdf5_array(path: Path, key: str) -> NDArray[Any]:
    """A dataset of an HDF5 file, read into memory."""
    with _dataset(path, key) as dataset:
        return np.asarray(dataset[()])


@contextlib.contextmanager
def _dataset(path: Path, key: str) -> Iterator[h5py.Dataset]:
    try:
        with h5py.File(path, "r") as file:
            found = file.get(key)
            if not isinstance(found, h5py.Dataset):
                raise DataFormatError(
                    f"{path}: expected a dataset {key}, got {', '.join(file)}. "
                    "This is not the published file: get it again."
                )
            yield found
    # h5py has no class for a damaged file: it raises whatever the C library reported.
    except (OSError, RuntimeError, KeyError) as error:
        raise DataFormatError(
            f"{path}: expected a complete HDF5 file, got one that cannot be read "
            f"({error}). If it is damaged, delete it and get it again."
        ) from error


def _blocks(path: Path, key: str) -> Blocks:
    with _dataset(path, key) as dataset:
        n_images = dataset.shape[0]
        # Whole chunks, so that each is decompressed once.
        chunk = dataset.chunks[0] if dataset.chunks else 1
        image_bytes = math.prod(dataset.shape[1:])
        step = chunk * max(1, BLOCK_BYTES // (chunk * image_bytes))
        for first in range(0, n_images, step):
            yield first, dataset[first : first + step]
