"""Arrays of an HDF5 file, mapped in place where the file allows it.

An HDF5 file can name other files whose bytes appear as its own: by external links, by
external storage and by virtual datasets. All of them are refused, because a file from
anywhere could show what else is on this machine.
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

from ._memory_map import BLOCK_BYTES, Blocks, converted_once, mapped, require_layout

_MOST_LINKS = 20
"""Soft links that lead to one dataset."""


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
        DataFormatError: If the file is damaged, has no such dataset, or keeps it in
            another file.
    """
    with _dataset(path, key) as dataset:
        found = dataset.shape
        require_layout(f"{path}, {key}", found, dataset.dtype, shape)
        offset = dataset.id.get_offset() if dataset.chunks is None else None
    if offset is not None and offset + math.prod(found) <= path.stat().st_size:
        return mapped(path, offset, found)
    label = key.replace("/", "-")
    return converted_once([path], label, lambda: (found, _blocks(path, key)))


def hdf5_array(path: Path, key: str) -> NDArray[Any]:
    """A dataset of an HDF5 file, read into memory.

    Raises:
        DataFormatError: If the file is damaged, has no such dataset, or keeps it in
            another file.
        NotEnoughMemoryError: If the dataset does not fit into memory.
    """
    with _dataset(path, key) as dataset:
        require_memory(dataset.size * dataset.dtype.itemsize, f"{path}, {key}")
        return np.asarray(dataset[()])


def hdf5_names(path: Path) -> list[str]:
    """Names of the datasets at the top of an HDF5 file, without opening other files.

    An external link counts as a dataset, so that asking for it gives the reason why it
    is refused.
    """
    with _opened(path) as file:
        return [
            name
            for name in map(str, file)
            if _leads_outside(file, name)
            or isinstance(_member(path, file, name), h5py.Dataset)
        ]


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[h5py.File]:
    require_regular_file(path)
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (UnbraidError, PermissionError):
        raise
    # h5py has no class for a damaged file: it raises whatever the C library reported.
    except Exception as error:
        raise DataFormatError(
            f"{path}: expected a complete HDF5 file, got one that cannot be read. If "
            "it is damaged, delete it and get it again."
        ) from error


@contextlib.contextmanager
def _dataset(path: Path, key: str) -> Iterator[h5py.Dataset]:
    with _opened(path) as file:
        found = _member(path, file, key)
        if not isinstance(found, h5py.Dataset):
            raise DataFormatError(
                f"{path}: expected a dataset {key}, got {', '.join(file) or 'none'}. "
                "This is not the published file: get it again."
            )
        if found.external or found.is_virtual:
            raise DataFormatError(_outside(path, key))
        if found.shape is None:
            raise DataFormatError(f"{path}: the dataset {key} is empty.")
        yield found


def _member(path: Path, file: h5py.File, key: str) -> Any:
    """What a name stands for in this very file; ``None`` if there is nothing."""
    here: Any = file["/"]
    parts, n_followed = _parts(key), 0
    while parts:
        name = parts.pop(0)
        if not isinstance(here, h5py.Group):
            return None
        if _leads_outside(here, name):
            raise DataFormatError(_outside(path, key))
        link = here.get(name, getlink=True)
        if isinstance(link, h5py.SoftLink):
            n_followed += 1
            if n_followed > _MOST_LINKS:
                raise DataFormatError(
                    f"{path}: the name {key} leads through more than {_MOST_LINKS} "
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


def _leads_outside(group: h5py.Group, name: str) -> bool:
    return isinstance(group.get(name, getlink=True), h5py.ExternalLink)


def _outside(path: Path, key: str) -> str:
    return (
        f"{path}: the dataset {key} keeps its values in another file, which is not "
        "read. Copy the values into one file first."
    )


def _blocks(path: Path, key: str) -> Blocks:
    with _dataset(path, key) as dataset:
        n_images = dataset.shape[0]
        # Whole chunks, so that each is decompressed once.
        chunk = dataset.chunks[0] if dataset.chunks else 1
        image_bytes = math.prod(dataset.shape[1:])
        step = chunk * max(1, BLOCK_BYTES // (chunk * image_bytes))
        require_memory(min(step, n_images) * image_bytes, f"{path}, {key}")
        for first in range(0, n_images, step):
            yield first, dataset[first : first + step]
