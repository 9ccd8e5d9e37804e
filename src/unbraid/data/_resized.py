"""Resized: a view with images of another shape."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import interpolate

from ._dataset import AbstractDataset
from ._views import AbstractTableView, AbstractView
from .own._image_folder import ImageFolder
from .own._picture import Framing

# Weights of red, green and blue in a gray level, as in Pillow (ITU-R 601).
_GRAY = np.array([0.299, 0.587, 0.114], dtype=np.float32)


@dataclass(frozen=True, eq=False)
class Resized(AbstractTableView):
    """The images of a dataset with another size or number of channels.

    The center of each image is cropped to the new proportions. If the new sides divide
    the old ones, a new pixel is the mean of a block of old pixels; otherwise images are
    resized with an antialiased bilinear filter. Gray images are converted to color by
    repetition, color images to gray by luminance.

    Args:
        dataset: Dataset of images.
        shape: Channels (1 or 3), height and width of the new images.

    Example:
        >>> from unbraid.data import XYSquares
        >>> small = Resized(XYSquares(n_squares=1), (1, 16, 16))
        >>> small.image_shape, small.images([0]).dtype
        ((1, 16, 16), dtype('uint8'))
    """

    shape: tuple[int, int, int]

    def __post_init__(self) -> None:
        old, new = self.dataset.image_shape, self.shape
        if len(old) != 3 or len(new) != 3 or min(new) < 1:
            raise ValueError(f"Cannot resize images of shape {old} to {new}.")
        if old[0] != new[0] and {old[0], new[0]} != {1, 3}:
            raise ValueError(
                f"Cannot convert images with {old[0]} channels to {new[0]}: only gray "
                "(1) and color (3) images can be converted."
            )

    @property
    def name(self) -> str:
        """Name of the dataset underneath."""
        return self.dataset.name

    @property
    def image_shape(self) -> tuple[int, ...]:
        """Channels, height and width of the new images."""
        return tuple(self.shape)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        channels, height, width = self.shape
        images = self.dataset.images(indices)
        if images.shape[1] == 3 and channels == 1:
            gray = np.tensordot(images.astype(np.float32), _GRAY, axes=(1, 0))
            images = np.round(gray).astype(np.uint8)[:, None]
        images = _resize(images, height, width)
        return np.repeat(images, 3, axis=1) if images.shape[1] < channels else images

    def _changes(self) -> Any:
        yield repr(tuple(self.shape)).encode()


def average_blocks(images: NDArray[Any], factor: int) -> NDArray[Any]:
    """Reduce images: each pixel of the result is the mean of a block of pixels.

    The last row and column are repeated if sides are not multiples of the factor.

    Args:
        images: Images, shape ``(n, channels, height, width)``.
        factor: Side of a block in pixels.

    Returns:
        Smaller images of the same type.

    Example:
        >>> average_blocks(np.array([[[[0, 10, 4]]]], np.uint8), 2)
        array([[[[5, 4]]]], dtype=uint8)
    """
    n_images, n_channels, *sides = images.shape
    missing = [-side % factor for side in sides]
    if any(missing):
        around = ((0, 0), (0, 0), *((0, more) for more in missing))
        images = np.pad(images, around, mode="edge")
    height, width = (side // factor for side in images.shape[2:])
    blocks = images.reshape(n_images, n_channels, height, factor, width, factor)
    means = blocks.mean(axis=(3, 5), dtype=np.float32)
    is_integer = np.issubdtype(images.dtype, np.integer)
    return (np.round(means) if is_integer else means).astype(images.dtype)


def _resize(images: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    factor = -(-images.shape[2] // height)
    if all(
        -(-old // factor) == new
        for old, new in zip(images.shape[2:], (height, width), strict=True)
    ):
        return average_blocks(images, factor) if factor > 1 else images
    images = _crop_to_proportions(images, height / width)
    pixels = torch.from_numpy(np.ascontiguousarray(images)).float()
    resized = interpolate(pixels, (height, width), mode="bilinear", antialias=True)
    return resized.round().clamp(0, 255).byte().numpy()


def _crop_to_proportions(
    images: NDArray[np.uint8], proportion: float
) -> NDArray[np.uint8]:
    """Crop images to the largest centered part with this ratio of height to width."""
    height, width = images.shape[2:]
    new_height = min(height, max(1, round(width * proportion)))
    new_width = min(width, max(1, round(height / proportion)))
    top, left = (height - new_height) // 2, (width - new_width) // 2
    return images[:, :, top : top + new_height, left : left + new_width]


def find_framing(dataset: AbstractDataset) -> Framing | None:
    """Return the framing of the pictures of an image folder, or of a view of one."""
    while isinstance(dataset, AbstractView):
        dataset = dataset.base
    return dataset.framing if isinstance(dataset, ImageFolder) else None


def resize_dataset(
    dataset: AbstractDataset, shape: tuple[int, ...], framing: Framing | None = None
) -> AbstractDataset:
    """Return a dataset whose images have a given shape.

    Args:
        dataset: Dataset of images of any size. The pictures of a folder are read again
            in the new size; other images are resized.
        shape: Required channels, height and width.
        framing: Crop and background of the pictures of a folder. Default: those of the
            dataset.

    Returns:
        The dataset itself if its images already have this shape, or if it contains
        vectors.
    """
    shape = tuple(shape)
    if dataset.image_shape == shape or len(shape) != 3 or len(dataset.image_shape) != 3:
        return dataset
    channels, height, width = shape
    if isinstance(dataset, ImageFolder) and channels in (1, 3):
        framing = framing or dataset.framing
        return replace(
            dataset,
            image_size=(height, width),
            channels=channels,
            crop=framing.crop,
            background=framing.background,
        )
    return Resized(dataset, (channels, height, width))
