"""Fingerprints of the user's own data, which cover every byte."""

import hashlib

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractDataset

_CHUNK_BYTES = 2**24


def chunks(images: NDArray[np.generic]) -> list[slice]:
    """Return slices of the first axis, each of a few megabytes."""
    rows = max(1, _CHUNK_BYTES // max(1, images[:1].nbytes))
    return [slice(start, start + rows) for start in range(0, len(images), rows)]


def hash_pixels(images: NDArray[np.generic]) -> str:
    """Return a hash of all bytes of images ``(n, height, width, channels)``."""
    digest = hashlib.sha256()
    for rows in chunks(images):
        digest.update(images[rows].tobytes())
    return digest.hexdigest()


def hash_content(
    dataset: AbstractDataset,
    pixel_hash: str,
    factor_values: tuple[tuple[object, ...], ...],
) -> str:
    """Return a hash of all pixels, all labels and the values of the factors."""
    labels = dataset.factors(np.arange(len(dataset)))
    meaning = (
        *(len(dataset), dataset.image_shape, pixel_hash),
        *(dataset.factor_names, dataset.factor_kinds, factor_values),
    )
    digest = hashlib.sha256(repr(meaning).encode())
    if labels is not None:
        digest.update(labels.tobytes())
    return digest.hexdigest()
