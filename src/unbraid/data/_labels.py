"""Reading the labels of a dataset, with one clear sentence when they do not fit."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset
from ._factor_space import FactorSpace

# Labels are read in blocks, so that one column of millions of rows costs one column.
_BLOCK = 2**18


def label_table(dataset: AbstractDataset, *, who: str) -> NDArray[Any]:
    """All labels, shape ``(len(dataset), n_factors)``."""
    return _read(dataset, slice(None), who=who)


def label_column(
    dataset: AbstractDataset, factor: str | int, *, who: str
) -> NDArray[Any]:
    """Labels of one factor, shape ``(len(dataset),)``."""
    return _read(dataset, factor_position(dataset, factor, who=who), who=who)


def factor_position(dataset: AbstractDataset, factor: str | int, *, who: str) -> int:
    """Column of a factor, given its name or its column."""
    names = dataset.factor_names
    _check_labeled(dataset, who)
    if isinstance(factor, str):
        if factor in names:
            return names.index(factor)
    elif -len(names) <= factor < len(names):
        return factor % len(names)
    raise ValueError(
        f"{who}: expected one of the factors {', '.join(names)} (or its column), "
        f"got {factor!r}."
    )


def discrete_factors(dataset: AbstractDataset, *, who: str) -> FactorSpace:
    """The factor space, or an error that names the factor which prevents one."""
    _check_labeled(dataset, who)
    if dataset.factor_space is not None:
        return dataset.factor_space
    for column, (name, kind) in enumerate(
        zip(dataset.factor_names, dataset.factor_kinds, strict=True)
    ):
        if kind == "continuous":
            raise ValueError(
                f"{who}: expected factors with countable values, got the continuous "
                f"factor {name!r}. Bin it, or keep_labels of the other factors."
            )
        check_known(label_column(dataset, column, who=who), name, who=who)
    raise ValueError(
        f"{who}: expected integer labels with a factor_space, got float labels of "
        f"{', '.join(dataset.factor_names)}. Wrap the dataset in Relabeled."
    )


def check_known(column: NDArray[Any], name: str, *, who: str) -> None:
    """Refuse a column in which a label is missing."""
    n_missing = int(np.isnan(column).sum())
    if n_missing:
        raise ValueError(
            f"{who}: expected a label of factor {name!r} in every row, got "
            f"{n_missing} rows without. Take the Subset of rows that have one."
        )


def _check_labeled(dataset: AbstractDataset, who: str) -> None:
    if not dataset.factor_names:
        raise ValueError(
            f"{who}: expected a dataset with labels, got {dataset.name!r} without."
        )


def _read(dataset: AbstractDataset, columns: int | slice, *, who: str) -> NDArray[Any]:
    _check_labeled(dataset, who)
    rows = np.arange(len(dataset))
    blocks = []
    for start in range(0, len(rows), _BLOCK):
        labels = dataset.factors(rows[start : start + _BLOCK])
        assert labels is not None, "a dataset with factor names gives factors"
        blocks.append(labels[:, columns])
    return np.concatenate(blocks)
