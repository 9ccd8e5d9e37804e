"""Whatever a user calls data becomes a dataset."""

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
    """A dataset from what a user has.

    Args:
        data: A dataset; a name, folder or file as the command line takes it; an array
            of images; an array of vectors ``(n, length)``; or a ``DataLoader`` over a
            finite set, which is read once and kept in memory (of tuples, the first
            part is the images and the second, if there is one, the factors).
        factors: One row per image, when ``data`` is an array.

    Example:
        >>> as_dataset([[0.5, -1.0, 2.0]])
        Vectors(name='vectors': 1 vectors of 3)
        >>> as_dataset("xy_squares:n_squares=1").image_shape
        (3, 64, 64)
    """
    if isinstance(data, DataLoader):
        data, found = _read_loader(data)
        factors = found if factors is None else factors
    elif isinstance(data, AbstractDataset | DataSpec | str | os.PathLike):
        if factors is not None:
            raise ValueError(
                "data: expected factors with an array only, got them beside "
                f"{type(data).__name__}, which brings its own."
            )
        if isinstance(data, AbstractDataset):
            return data
        return open_dataset(data if isinstance(data, DataSpec) else os.fspath(data))
    return (Vectors if _n_axes(data) == 2 else LabeledImages)(data, factors)


def _n_axes(data: Any) -> int:
    try:
        return np.ndim(data)
    except ValueError:  # lists of several lengths: the dataset says what is wrong
        return 0


def _read_loader(loader: DataLoader) -> tuple[torch.Tensor, torch.Tensor | None]:
    images, factors = [], []
    for batch in loader:
        parts = batch if isinstance(batch, tuple | list) else (batch,)
        images.append(torch.as_tensor(parts[0]))
        if len(parts) > 1:
            factors.append(torch.as_tensor(parts[1]))
    if not images:
        raise ValueError("data: expected a DataLoader with images, got an empty one.")
    return torch.cat(images), torch.cat(factors) if factors else None
