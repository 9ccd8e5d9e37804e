"""Mean and standard deviation of each channel, for standardizing a dataset."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_not_empty

from ._dataset import AbstractDataset
from ._progress import progress_bar

_CHUNK = 1024
"""Images read at a time."""

_CHUNK_VALUES = 2**26
"""Largest number of values read at a time, if images are large."""


@dataclass(frozen=True)
class ChannelStatistics:
    """Mean and standard deviation of each channel, of images scaled to [0, 1].

    Attributes:
        mean: Mean over all pixels of all images, one per channel.
        std: Mean over images of the standard deviation within an image (with Bessel's
            correction), one per channel. Published standardization constants are of
            this kind.
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
        dataset: Dataset of images or vectors. Images of one pixel have a standard
            deviation of 0. The statistics of vectors are those of each column.
        rows: Row numbers to use. Default: all.
        progress: Whether to show a progress bar on a terminal.

    Returns:
        The statistics, for pixels in [0, 1].

    Example:
        >>> from unbraid.data import XYSquares
        >>> channel_statistics(XYSquares(), rows=range(64)).mean
        (0.015625, 0.015625, 0.015625)

    References:
        Michlo (2022), dissertation, Table A.2. The kind of standard deviation was found
        by comparing the numbers.
    """
    indices = np.arange(len(dataset)) if rows is None else np.asarray(rows)
    check_not_empty("rows", indices)
    if len(dataset.image_shape) == 1:
        return _column_statistics(dataset, indices)
    n_pixels = dataset.image_shape[1] * dataset.image_shape[2]
    totals = np.zeros((3, dataset.image_shape[0]))
    chunk = min(_CHUNK, max(1, _CHUNK_VALUES // math.prod(dataset.image_shape)))
    with progress_bar(
        len(indices), "channel statistics", unit="images", enabled=progress
    ) as bar:
        for start in range(0, len(indices), chunk):
            images = dataset.images(indices[start : start + chunk])
            sums, squares = _sums(images)
            # For a constant image, rounding may give a small negative number.
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
    """Return statistics of each column, where both standard deviations are the same."""
    values = dataset.images(indices).astype(np.float64)
    std = tuple(values.std(axis=0).tolist())
    return ChannelStatistics(tuple(values.mean(axis=0).tolist()), std, std)


def _sums(
    images: NDArray[np.uint8],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return sums and sums of squares per channel and image, ``(n, channels)``."""
    sums, squares = np.zeros(images.shape[:2]), np.zeros(images.shape[:2])
    # The sum of 256 squared bytes is below 2**24, so that float32 is exact.
    for start in range(0, images.shape[3], 256):
        values = images[..., start : start + 256].astype(np.float32)
        line_squares = np.einsum("nchw,nchw->nch", values, values)
        sums += values.sum(axis=3).sum(axis=2, dtype=np.float64)
        squares += line_squares.sum(axis=2, dtype=np.float64)
    return sums, squares
