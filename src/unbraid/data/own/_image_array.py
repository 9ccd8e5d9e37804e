"""Conversion of arrays of images to uint8, with channels last."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data._array_files import SUFFIXES, array_names, read_array
from unbraid.foundation import DataFormatError, expand_user, require_memory

from ._content import chunks

_MOST_VALUES = 2**28
"""Largest number of values of an image."""

_SCANNED_BYTES = 2**28
"""Number of bytes that are inspected, if an array is larger."""


def read_images(images: Any, *, channels_first: bool | None) -> NDArray[np.uint8]:
    """Return images as ``uint8``, shape ``(n, height, width, channels)``.

    ``uint8`` images are not copied; others are converted once.
    """
    if isinstance(images, str | os.PathLike):
        array = _read_file(expand_user(images))
    elif isinstance(images, torch.Tensor):
        # NumPy has no bfloat16.
        tensor = images.float() if images.dtype == torch.bfloat16 else images
        array = tensor.detach().cpu().numpy()
    else:
        try:
            array = np.asarray(images)
        except ValueError as error:
            raise ValueError(
                "All images must have the same shape, got a list of arrays of "
                "different shapes. Resize them first."
            ) from error
    # As a plain array, so that batches of a memory map are not memory maps.
    return _to_uint8(_channels_last(array.view(np.ndarray), channels_first))


def stored_array(path: str | os.PathLike[str], name: str) -> NDArray[Any] | None:
    """Return an array of a file by its name, or ``None`` if there is none."""
    path = expand_user(path)
    return read_array(path, name) if name in array_names(path) else None


def _read_file(path: Path) -> NDArray[Any]:
    """Return the array called ``images``, or the only array, of a file."""
    if not path.exists() or path.is_dir():
        raise FileNotFoundError(
            f"There is no file {str(path)!r}. For a folder of pictures, use "
            "ImageFolder."
        )
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            "images must be an array or a .npy, .npz, .h5 or .hdf5 file, got "
            f"{str(path)!r}."
        )
    return read_array(path, _find_key(path, array_names(path)))


def _find_key(path: Path, keys: list[str]) -> str:
    if "images" in keys:
        return "images"
    if len(keys) == 1:
        return keys[0]
    raise DataFormatError(
        f"{str(path)!r} must contain an array called 'images' or a single array, got "
        f"{', '.join(keys) or 'none'}. Load the file and pass the array of images."
    )


def _channels_last(array: NDArray[Any], channels_first: bool | None) -> NDArray[Any]:
    shape = array.shape
    if array.ndim == 3:
        array = array[..., None]
    elif array.ndim == 4:
        if channels_first is None:
            channels_first = _is_channels_first(shape)
        if channels_first:
            array = np.moveaxis(array, 1, -1)
    if array.ndim != 4 or 0 in array.shape or array.shape[-1] > 4:
        raise ValueError(
            "images must have shape (n, height, width), (n, height, width, channels) "
            "or (n, channels, height, width), with at least one image and 1 to 4 "
            f"channels, got {shape}."
        )
    if math.prod(array.shape[1:]) > _MOST_VALUES:
        raise ValueError(
            f"An image may have at most {_MOST_VALUES:,} values, got shape {shape}."
        )
    return array


def _is_channels_first(shape: tuple[int, ...]) -> bool:
    first, last = (1 <= shape[axis] <= 4 for axis in (1, -1))
    if first and last:
        raise ValueError(
            f"In images of shape {shape}, channels may be the second axis or the last. "
            "Pass channels_first=True or channels_first=False."
        )
    return first


def _to_uint8(images: NDArray[Any]) -> NDArray[np.uint8]:
    if images.dtype == np.uint8:
        _refuse_zero_one(images)
        return images
    if images.dtype.kind in "bf":
        require_memory(images.size, f"{images.size:,} values as uint8")
    if images.dtype == np.bool_:
        return np.multiply(images, 255, dtype=np.uint8)
    if images.dtype.kind == "f":
        return _to_bytes(images)
    message = f"images must be of type uint8, bool or float, got {images.dtype}"
    if images.dtype.kind not in "iu":
        raise TypeError(f"{message}.")
    some = np.concatenate([images[rows] for rows in _sample(images)])
    raise TypeError(
        f"{message} with values from {some.min()} to {some.max()}. Scale them to "
        "0 .. 255 and call .astype(numpy.uint8)."
    )


def _to_bytes(images: NDArray[np.floating]) -> NDArray[np.uint8]:
    scaled = np.empty(images.shape, dtype=np.uint8)
    for rows in chunks(images):
        chunk = images[rows]
        low, high = chunk.min(), chunk.max()
        # Written so that NaN, which compares as false, is refused too.
        if not (low >= 0 and high <= 1):
            raise ValueError(
                f"Values of float images must be between 0 and 1, got {low} to {high}. "
                "Scale them, or pass uint8 between 0 and 255."
            )
        scaled[rows] = np.rint(np.multiply(chunk, 255.0, dtype=np.float64))
    return scaled


def _refuse_zero_one(images: NDArray[np.uint8]) -> None:
    """Refuse bytes with 1 for white, which would be almost black images."""
    highest = 0
    for rows in _sample(images):
        highest = max(highest, int(images[rows].max()))
        if highest > 1:
            return
    if highest == 1:
        raise ValueError(
            "Values of uint8 images must be between 0 (black) and 255 (white), but all "
            "are 0 or 1. Pass images.astype(bool) if 1 is white."
        )


def _sample(images: NDArray[Any]) -> list[slice]:
    """Return all chunks of rows, or evenly spaced ones if the array is large."""
    pieces = chunks(images)
    n_read = max(1, len(pieces) * _SCANNED_BYTES // max(1, images.nbytes))
    every = -(-len(pieces) // n_read)
    return pieces[::every]
