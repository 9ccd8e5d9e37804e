"""Mean and standard deviation of each channel, for standardizing a dataset."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._dataset import AbstractDataset
from ._progress import progress_bar

_CHUNK = 1024
_CHUNK_VALUES = 2**26
"""Values of large images that are read at a time."""


@dataclass(frozen=True)
class ChannelStatistics:
    """Mean and spread of the pixels of each channel, of images scaled to [0, 1].

    Attributes:
        mean: Mean over all pixels of all images, one per channel.
        std: Mean over images of the standard deviation within an image (with Bessel's
            correction), one per channel. The published standardization constants are
            this and not the next.
        total_std: Standard deviation over all pixels of all images, one per channel.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    total_std: tuple[float, ...]


def channel_statistics(
    dataset: AbstractDataset,
    rows: ArrayLike | None = None,
    *,
    progress: bool = False,
) -> ChannelStatistics:
    r"""Channel means and standard deviations of a dataset.

    With :math:`x_{np}` the pixel :math:`p` of :math:`P` in image :math:`n` of
    :math:`N`, and :math:`m_n` the mean of image :math:`n`:

    .. math::
        m = \frac{1}{N} \sum_n m_n, \qquad
        s = \frac{1}{N} \sum_n
            \sqrt{\frac{1}{P - 1} \sum_p (x_{np} - m_n)^2}

    Args:
        dataset: Images to look at. Images of one pixel have a spread of 0. Of vectors,
            mean and standard deviation of each column are taken, as they are.
        rows: Indices to look at, all when not given.
        progress: Whether to show a progress bar on a terminal.

    Returns:
        The constants, for pixels in [0, 1].

    Example:
        >>> from unbraid.data import XYSquares
        >>> channel_statistics(XYSquares(), rows=range(64)).mean
        (0.015625, 0.015625, 0.015625)

    References:
        Michlo (2022), dissertation, Table A.2; which standard deviation it prints was
        found by matching the numbers.
    """
    indices = np.arange(len(dataset)) if rows is None else np.asarray(rows)
    if not len(indices):
        raise ValueError("channel_statistics: expected at least one row, got none.")
    if len(dataset.image_shape) == 1:
        return _column_statistics(dataset, indices)
    n_pixels = dataset.image_shape[1] * dataset.image_shape[2]
    totals = np.zeros((3, dataset.image_shape[0]))
    chunk = min(_CHUNK, max(1, _CHUNK_VALUES // math.prod(dataset.image_shape)))
    with progress_bar(
        len(indices), "channel statistics", unit="images", wanted=progress
    ) as bar:
        for start in range(0, len(indices), chunk):
            images = dataset.images(indices[start : start + chunk])
            sums, squares = _sums(images)
            # Rounding can make the spread of a constant image a tiny negative number.
            spread = (squares - sums**2 / n_pixels).clip(min=0) / max(n_pixels - 1, 1)
            spread = np.sqrt(spread).sum(axis=0)
            totals += [sums.sum(axis=0), squares.sum(axis=0), spread]
            bar.update(len(images))
    n_values = len(indices) * n_pixels
    mean, mean_square = totals[0] / n_values, totals[1] / n_values
    return ChannelStatistics(
        mean=tuple((mean / 255).tolist()),
        std=tuple((totals[2] / len(indices) / 255).tolist()),
        total_std=tuple((np.sqrt((mean_square - mean**2).clip(min=0)) / 255).tolist()),
    )


def _column_statistics(
    dataset: AbstractDataset, indices: NDArray[np.int64]
) -> ChannelStatistics:
    """A vector has no spread within a column, so that over all rows stands for it."""
    values = dataset.images(indices).astype(np.float64)
    std = tuple(values.std(axis=0).tolist())
    return ChannelStatistics(tuple(values.mean(axis=0).tolist()), std, std)


def _sums(
    images: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and sum of squares of each channel of each image, ``(n, channels)``."""
    sums, squares = np.zeros(images.shape[:2]), np.zeros(images.shape[:2])
    # 256 squared bytes add up to less than 2**24, so that float32 is exact along a
    # line of so many.
    for start in range(0, images.shape[3], 256):
        values = images[..., start : start + 256].astype(np.float32)
        line_squares = np.einsum("nchw,nchw->nch", values, values)
        sums += values.sum(axis=3).sum(axis=2, dtype=np.float64)
        squares += line_squares.sum(axis=2, dtype=np.float64)
    return sums, squares
