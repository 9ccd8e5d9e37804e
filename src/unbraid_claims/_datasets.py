"""Datasets of a study, with names that are short enough for a table."""

from collections.abc import Iterable


def dataset_names(datasets: Iterable[str]) -> dict[str, str]:
    """Short names of datasets, in the order in which they first appear.

    Args:
        datasets: Datasets as a study names them, with options; repeated ones count
            once.

    Returns:
        By the whole name: the name without options, or the whole name where two
        datasets would be called the same.

    Example:
        >>> dataset_names(["room3d:n_scales=3", "dsprites", "dsprites"])
        {'room3d:n_scales=3': 'room3d', 'dsprites': 'dsprites'}
    """
    every = list(dict.fromkeys(datasets))
    short = [name.partition(":")[0] for name in every]
    return {
        name: own if short.count(own) == 1 else name
        for name, own in zip(every, short, strict=True)
    }
