"""Datasets for torch's DataLoader, which are read a batch at a time."""

from collections.abc import Sequence

import torch
import torch.utils.data
from numpy.typing import ArrayLike

from ._dataset import AbstractDataset


def float_images(
    dataset: AbstractDataset,
    indices: ArrayLike,
    *,
    device: torch.device | str = "cpu",
) -> torch.Tensor:
    """Return images as inputs of models: bytes scaled to [0, 1], vectors unchanged.

    Args:
        dataset: Dataset to read.
        indices: Row numbers, ``(n,)``.
        device: Device of the tensor.
    """
    raw = torch.from_numpy(dataset.images(indices)).to(device)
    return raw if raw.is_floating_point() else raw.float().mul_(1 / 255)


class TorchDataset(torch.utils.data.Dataset):
    """A dataset as a map-style ``torch.utils.data.Dataset``.

    Each item is a float image in [0, 1], ``(channels, height, width)``, or a pair of
    image and factor values if the dataset has labels. A ``DataLoader`` reads whole
    batches from it in one call. For training, :class:`BatchStream` is faster.

    Example:
        >>> from torch.utils.data import DataLoader
        >>> from unbraid.data import XYSquares
        >>> images, factors = next(iter(DataLoader(TorchDataset(XYSquares()), 8)))
        >>> images.shape, factors.shape
        (torch.Size([8, 3, 64, 64]), torch.Size([8, 6]))
    """

    def __init__(self, dataset: AbstractDataset) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int):  # image, or image and factors
        return self.__getitems__([index])[0]

    def __getitems__(self, indices: Sequence[int]) -> list:
        """Return the items of several indices; called by ``DataLoader``."""
        images = float_images(self.dataset, indices)
        factors = self.dataset.factors(indices)
        if factors is None:
            return list(images)
        return list(zip(images, torch.from_numpy(factors), strict=True))
