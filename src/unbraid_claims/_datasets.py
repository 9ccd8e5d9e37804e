"""Short names of datasets for tables."""

from collections.abc import Iterable


def dataset_names(datasets: Iterable[str]) -> dict[str, str]:
    """Return short names of datasets, in order of first appearance.

    Args:
        datasets: Full names of datasets with options, as in study files.

    Returns:
        Short name of each full name: the name without options, or the full name if
        short names are not unique.

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
