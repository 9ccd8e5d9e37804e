"""Normalization constants from the literature, and a comparison with the data."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from ._dataset import AbstractDataset
from ._statistics import channel_statistics
from .public._cars3d import Cars3D
from .public._dsprites import DSprites
from .public._shapes3d import Shapes3D
from .public._smallnorb import SmallNORB
from .synthetic._xy_object import XYObject, XYObjectShaded
from .synthetic._xy_squares import XYSquares

_LARGEST_DIFFERENCE = 1e-3
"""Smaller than the effect of another resizing filter, larger than rounding errors."""

_LOCATION_FIELDS = ("root", "download")


@dataclass(frozen=True, kw_only=True)
class PublishedStatistics:
    """Mean and standard deviation of each channel as they were published.

    Attributes:
        mean: Channel means, for pixels from 0 to 1.
        std: Standard deviations within an image, averaged over images, as
            :attr:`ChannelStatistics.std`.
        source: Publication and table.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    source: str = "Michlo (2022), Table A.2"


_XY_OBJECT = PublishedStatistics(
    mean=(0.009818761549013,) * 3, std=(0.052632363725246,) * 3
)

PUBLISHED_STATISTICS: dict[type[AbstractDataset], PublishedStatistics] = {
    Cars3D: PublishedStatistics(
        mean=(0.897667614997663, 0.889165802006751, 0.885147515814868),
        std=(0.225031955315030, 0.239946127898126, 0.247921063196844),
    ),
    Shapes3D: PublishedStatistics(
        mean=(0.502584966788819, 0.578759756608967, 0.603449973185958),
        std=(0.294081404355556, 0.344397908751721, 0.366168598152475),
    ),
    SmallNORB: PublishedStatistics(mean=(0.752091840108860,), std=(0.095638790168273,)),
    DSprites: PublishedStatistics(mean=(0.042494423521890,), std=(0.195166458806261,)),
    XYSquares: PublishedStatistics(mean=(0.015625,) * 3, std=(0.124034734589209,) * 3),
    XYObject: _XY_OBJECT,
    XYObjectShaded: _XY_OBJECT,
}
"""Constants by dataset, each for the default options of its dataset."""


@dataclass(frozen=True, kw_only=True)
class StatisticsComparison:
    """Channel statistics of a dataset, and the published ones.

    Attributes:
        mean: Computed channel means.
        std: Computed standard deviations within an image, averaged over images.
        published: Published constants.
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    published: PublishedStatistics

    @property
    def largest_difference(self) -> float:
        """Largest absolute difference between a computed and a published constant."""
        computed = np.array([self.mean, self.std])
        return float(np.abs(computed - [self.published.mean, self.published.std]).max())

    @property
    def agrees(self) -> bool:
        """Whether all constants agree within 0.001."""
        return self.largest_difference <= _LARGEST_DIFFERENCE

    def to_plain(self) -> dict[str, Any]:
        """Return all values as a dictionary for JSON."""
        return {
            "mean": list(self.mean),
            "std": list(self.std),
            "published_mean": list(self.published.mean),
            "published_std": list(self.published.std),
            "source": self.published.source,
            "largest_difference": self.largest_difference,
            "agrees": self.agrees,
        }


def published_statistics(dataset: AbstractDataset) -> PublishedStatistics | None:
    """Return the published normalization constants of a dataset, if there are any.

    Args:
        dataset: Dataset with the options of the publication, which are the defaults.

    Returns:
        The constants, or ``None`` if none are known for this dataset and its options.

    Example:
        >>> published_statistics(XYSquares()).mean
        (0.015625, 0.015625, 0.015625)
        >>> published_statistics(XYSquares(square_size=4)) is None
        True
    """
    published = PUBLISHED_STATISTICS.get(type(dataset))
    return published if published is not None and _has_defaults(dataset) else None


def compare_statistics(
    dataset: AbstractDataset, *, progress: bool = False
) -> StatisticsComparison | None:
    """Compare the channel statistics of all images with the published constants.

    Args:
        dataset: Dataset whose images are all read.
        progress: Whether to show a progress bar on a terminal.

    Returns:
        The comparison, or ``None`` if no constants are known for this dataset and its
        options.
    """
    published = published_statistics(dataset)
    if published is None:
        return None
    computed = channel_statistics(dataset, progress=progress)
    return StatisticsComparison(
        mean=computed.mean, std=computed.std, published=published
    )


def _has_defaults(dataset: Any) -> bool:
    return all(
        field.default is not MISSING and getattr(dataset, field.name) == field.default
        for field in fields(dataset)
        if field.name not in _LOCATION_FIELDS
    )
