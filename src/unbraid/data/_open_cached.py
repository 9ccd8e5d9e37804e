"""Datasets that a process has opened, with what is asked of them again and again."""

from functools import cached_property, lru_cache

from ._data_spec import DataSpec, open_dataset
from ._dataset import AbstractDataset
from ._statistics import ChannelStatistics, channel_statistics

# Datasets of a study are few, and those of files are memory maps.
_KEPT = 8


class CachedDataset:
    """A dataset, its fingerprint, and its statistics, each computed once.

    Args:
        dataset: What was opened.
    """

    def __init__(self, dataset: AbstractDataset) -> None:
        self.dataset = dataset

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the content."""
        return self.dataset.fingerprint()

    @cached_property
    def statistics(self) -> ChannelStatistics:
        """Means and spreads of the channels."""
        return channel_statistics(self.dataset)


@lru_cache(_KEPT)
def open_cached(data: DataSpec | str) -> CachedDataset:
    """Open a dataset once per process.

    Args:
        data: Name or path, and options.
    """
    return CachedDataset(open_dataset(data))
