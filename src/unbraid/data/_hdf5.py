"""Arrays of an HDF5 file, as memory maps where the file allows it.

An HDF5 file can refer to other files, whose bytes appear as its own: by external links,
external storage and virtual datasets. All of these are refused, because an untrusted
file could reveal other files of this machine.
"""

import contextlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
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

_MOST_LINKS = 20
"""Largest number of soft links that are followed to one dataset."""


def hdf5_images(
    path: Path, key: str, *, shape: tuple[int | None, ...]
) -> NDArray[np.uint8]:
    """Return a memory map of a ``uint8`` dataset in an HDF5 file.

    A contiguous dataset is mapped directly. A chunked one, compressed or not, is
    converted to a file once, in blocks.

    Args:
        path: Path of the HDF5 file.
        key: Name of the dataset.
        shape: Required shape, with ``None`` for any length.

    Raises:
        DataFormatError: If the file is damaged, has no such dataset, or stores it in
            another file.
    """
    with _dataset(path, key) as dataset:
        found = dataset.shape
        require_layout(f"{path}, {key}", found, dataset.dtype, shape)
        offset = dataset.id.get_offset() if dataset.chunks is None else None
    if offset is not None and offset + math.prod(found) <= path.stat().st_size:
        return map_bytes(path, offset, found)
    label = key.replace("/", "-")
    return convert_once([path], label, lambda: (found, _blocks(path, key)))


def hdf5_array(path: Path, key: str) -> NDArray[Any]:
    """Read a dataset of an HDF5 file into memory.

    Raises:
        DataFormatError: If the file is damaged, has no such dataset, or stores it in
            another file.
        NotEnoughMemoryError: If the dataset does not fit into memory.
    """
    with _dataset(path, key) as dataset:
        require_memory(dataset.size * dataset.dtype.itemsize, f"{path}, {key}")
        return np.asarray(dataset[()])


def hdf5_names(path: Path) -> list[str]:
    """Return the names of the top-level datasets of an HDF5 file.

    An external link counts as a dataset, so that reading it raises an error with the
    reason why it is refused.
    """
    with _open(path) as file:
        return [
            name
            for name in map(str, file)
            if _is_external(file, name)
            or isinstance(_member(path, file, name), h5py.Dataset)
        ]


@contextlib.contextmanager
def _open(path: Path) -> Iterator[h5py.File]:
    require_regular_file(path)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (UnbraidError, PermissionError):
        raise
    # h5py has no error for damaged files: it raises whatever the C library reports.
    except Exception as error:
        raise DataFormatError(
            f"{path} cannot be read as an HDF5 file. If it is damaged, delete it and "
            "download it again."
        ) from error


@contextlib.contextmanager
def _dataset(path: Path, key: str) -> Iterator[h5py.Dataset]:
    with _open(path) as file:
        dataset = _member(path, file, key)
        if not isinstance(dataset, h5py.Dataset):
            raise DataFormatError(
                f"{path} must contain a dataset {key}, got "
                f"{', '.join(file) or 'none'}. This is not the published file: "
                "download it again."
            )
        if dataset.external or dataset.is_virtual:
            raise DataFormatError(_external_message(path, key))
        if dataset.shape is None:
            raise DataFormatError(f"{path}: the dataset {key} is empty.")
        yield dataset


def _member(path: Path, file: h5py.File, key: str) -> Any:
    """Return a member of this file by its name, or ``None`` if there is none."""
    here: Any = file["/"]
    parts, n_followed = _parts(key), 0
    while parts:
        name = parts.pop(0)
        if not isinstance(here, h5py.Group):
            return None
        if _is_external(here, name):
            raise DataFormatError(_external_message(path, key))
        link = here.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            n_followed += 1
            if n_followed > _MOST_LINKS:
                raise DataFormatError(
                    f"{path}: the dataset {key} is behind more than {_MOST_LINKS} "
                    "links."
                )
            parts = _parts(link.path) + parts
            here = file["/"] if link.path.startswith("/") else here
        elif link is None:
            return None
        else:
            here = here[name]
    return here


def _parts(name: str) -> list[str]:
    return [part for part in name.split("/") if part not in ("", ".")]


def _is_external(group: h5py.Group, name: str) -> bool:
    return isinstance(group.get(name, getlink=True), h5py.ExternalLink)


def _external_message(path: Path, key: str) -> str:
    return (
        f"{path}: the dataset {key} stores its values in another file, which is not "
        "read. Copy the values into one file first."
    )


def _blocks(path: Path, key: str) -> Blocks:
    with _dataset(path, key) as dataset:
        n_images = dataset.shape[0]
        # In multiples of chunks, so that each is decompressed once.
        chunk = dataset.chunks[0] if dataset.chunks else 1
        image_bytes = math.prod(dataset.shape[1:])
        step = chunk * max(1, BLOCK_BYTES // (chunk * image_bytes))
        require_memory(min(step, n_images) * image_bytes, f"{path}, {key}")
        for first in range(0, n_images, step):
            yield first, dataset[first : first + step]
