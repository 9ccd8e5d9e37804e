"""Conversion of user data to datasets."""

import os
from typing import Any

import numpy as np
import torch
from torch.utils.data import DataLoader

from ._data_spec import DataSpec, open_dataset
from ._dataset import AbstractDataset
from .own._labeled_images import LabeledImages
from .own._vectors import Vectors


def as_dataset(data: Any, factors: Any = None) -> AbstractDataset:
    """Convert data to a dataset.

    Args:
        data: A dataset; a name, folder or file as on the command line; an array of
            images; an array of vectors ``(n, length)``; or a ``DataLoader`` over a
            finite set, which is read once and kept in memory. Its batches are images,
            or tuples of images and factors.
        factors: Factors, one row per image, if ``data`` is an array.

    Example:
        >>> as_dataset([[0.5, -1.0, 2.0]])
        Vectors(name='vectors': 1 vectors of 3)
        >>> as_dataset("xy_squares:n_squares=1").image_shape
        (3, 64, 64)
    """
    if isinstance(data, DataLoader):
        data, loaded = _read_loader(data)
        factors = loaded if factors is None else factors
    elif isinstance(data, AbstractDataset | DataSpec | str | os.PathLike):
        if factors is not None:
            raise ValueError(
                "factors can only be given if data is an array, got data of type "
                f"{type(data).__name__}, which has its own factors."
            )
        if isinstance(data, AbstractDataset):
            return data
        return open_dataset(data if isinstance(data, DataSpec) else os.fspath(data))
    return (Vectors if _n_axes(data) == 2 else LabeledImages)(data, factors)


def _n_axes(data: Any) -> int:
    try:
        return np.ndim(data)
    except ValueError:  # lists of different lengths, which LabeledImages reports
        return 0


def _read_loader(loader: DataLoader) -> tuple[torch.Tensor, torch.Tensor | None]:
    images, factors = [], []
    for batch in loader:
        parts = batch if isinstance(batch, tuple | list) else (batch,)
        images.append(torch.as_tensor(parts[0]))
        if len(parts) > 1:
            factors.append(torch.as_tensor(parts[1]))
    if not images:
        raise ValueError("The DataLoader must not be empty.")
    return torch.cat(images), torch.cat(factors) if factors else None
