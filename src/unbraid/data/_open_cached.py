"""Cache of the datasets that a process has opened."""

from functools import cached_property, lru_cache

from ._data_spec import DataSpec, open_dataset
from ._dataset import AbstractDataset
from ._statistics import ChannelStatistics, channel_statistics

# A study has few datasets, and those in files are memory maps.
_MAX_OPEN = 8


class CachedDataset:
    """A dataset, with its fingerprint and statistics, which are computed once.

    Args:
        dataset: The dataset.
    """

    def __init__(self, dataset: AbstractDataset) -> None:
        self.dataset = dataset

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content."""
        return self.dataset.fingerprint()

    @cached_property
    def statistics(self) -> ChannelStatistics:
        """Mean and standard deviation of each channel."""
        return channel_statistics(self.dataset)


@lru_cache(_MAX_OPEN)
def open_cached(data: DataSpec | str) -> CachedDataset:
    """Open a dataset once per process.

    Args:
        data: Name or path of the dataset, with options.
    """
    return CachedDataset(open_dataset(data))
