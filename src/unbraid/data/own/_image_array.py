"""Whatever a user calls an array of images becomes uint8, channels last."""

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
"""Values of the largest image."""

_SCANNED_BYTES = 2**28
"""Of larger arrays, rows of this size in all are looked at."""


def read_images(images: Any, *, channels_first: bool | None) -> NDArray[np.uint8]:
    """Images as ``uint8``, shape ``(n, height, width, channels)``.

    ``uint8`` images are a view of what was given; others are converted once.
    """
    if isinstance(images, str | os.PathLike):
        array = _read_file(expand_user(images))
    elif isinstance(images, torch.Tensor):
        # Numpy has no bfloat16.
        tensor = images.float() if images.dtype == torch.bfloat16 else images
        array = tensor.detach().cpu().numpy()
    else:
        try:
            array = np.asarray(images)
        except ValueError as error:
            raise ValueError(
                "LabeledImages: expected images of one size, got a list of arrays "
                "whose shapes differ. Make them the same size first."
            ) from error
    # A plain array: batches of a memory map must not be memory maps.
    return _to_uint8(_channels_last(array.view(np.ndarray), channels_first))


def stored_array(path: str | os.PathLike[str], name: str) -> NDArray[Any] | None:
    """Array of a name that stands beside the images in a file, or ``None``."""
    path = expand_user(path)
    return read_array(path, name) if name in array_names(path) else None


def _read_file(path: Path) -> NDArray[Any]:
    """The array called ``images``, or the only one, of a file."""
    if not path.exists() or path.is_dir():
        raise FileNotFoundError(
            f"LabeledImages: expected a file of images, got {str(path)!r}, and there "
            "is no such file. For a folder of pictures there is ImageFolder."
        )
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            "LabeledImages: expected a .npy, .npz, .h5 or .hdf5 file, got "
            f"{str(path)!r}."
        )
    return read_array(path, _only_key(path, array_names(path)))


def _only_key(path: Path, keys: list[str]) -> str:
    if "images" in keys:
        return "images"
    if len(keys) == 1:
        return keys[0]
    raise DataFormatError(
        f"LabeledImages: expected an array called 'images' or a single array in "
        f"{str(path)!r}, got {', '.join(keys) or 'none'}. Load the file and pass the "
        "array that holds the images."
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
            "LabeledImages: expected at least one image, with 1 to 4 channels, as "
            "(n, height, width), (n, height, width, channels) or (n, channels, height, "
            f"width), got shape {shape}."
        )
    if math.prod(array.shape[1:]) > _MOST_VALUES:
        raise ValueError(
            f"LabeledImages: an image may have at most {_MOST_VALUES:,} values, got "
            f"shape {shape}."
        )
    return array


def _is_channels_first(shape: tuple[int, ...]) -> bool:
    first, last = (1 <= shape[axis] <= 4 for axis in (1, -1))
    if first and last:
        raise ValueError(
            "LabeledImages: expected a shape that shows where the channels are, got "
            f"{shape}, where they may be the second axis or the last. Pass "
            "channels_first=True or channels_first=False."
        )
    return first


def _to_uint8(images: NDArray[Any]) -> NDArray[np.uint8]:
    if images.dtype == np.uint8:
        _refuse_ones(images)
        return images
    if images.dtype.kind in "bf":
        require_memory(images.size, f"{images.size:,} values as uint8")
    if images.dtype == np.bool_:
        return np.multiply(images, 255, dtype=np.uint8)
    if images.dtype.kind == "f":
        return _scaled(images)
    message = f"LabeledImages: expected uint8, bool or float images, got {images.dtype}"
    if images.dtype.kind not in "iu":
        raise TypeError(f"{message}.")
    some = np.concatenate([images[rows] for rows in _sample(images)])
    raise TypeError(
        f"{message} with values from {some.min()} to {some.max()}. Bring them to "
        "0 .. 255 and call .astype(numpy.uint8)."
    )


def _scaled(images: NDArray[np.floating]) -> NDArray[np.uint8]:
    scaled = np.empty(images.shape, dtype=np.uint8)
    for rows in chunks(images):
        chunk = images[rows]
        low, high = chunk.min(), chunk.max()
        # NaN compares as false with everything, and so is refused here too.
        if not (low >= 0 and high <= 1):
            raise ValueError(
                "LabeledImages: expected float images with values from 0 to 1, got "
                f"values from {low} to {high}. Scale them, or pass uint8 from 0 to 255."
            )
        scaled[rows] = np.rint(np.multiply(chunk, 255.0, dtype=np.float64))
    return scaled


def _refuse_ones(images: NDArray[np.uint8]) -> None:
    """Refuse 0 for black and 1 for white, which would train on all but black images."""
    highest = 0
    for rows in _sample(images):
        highest = max(highest, int(images[rows].max()))
        if highest > 1:
            return
    if highest == 1:
        raise ValueError(
            "LabeledImages: expected uint8 images from 0 (black) to 255 (white), got "
            "only 0 and 1. Pass images.astype(bool) if 1 is white."
        )


def _sample(images: NDArray[Any]) -> list[slice]:
    """All rows in chunks; of an array that is too large, some evenly spaced chunks."""
    pieces = chunks(images)
    n_read = max(1, len(pieces) * _SCANNED_BYTES // max(1, images.nbytes))
    every = -(-len(pieces) // n_read)
    return pieces[::every]
