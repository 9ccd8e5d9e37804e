"""Access to the labels of a dataset, with checks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._dataset import AbstractDataset
from ._factor_space import FactorSpace, find_column

# Labels are read in blocks, so that a column of many rows needs little more memory.
_BLOCK = 2**18


def label_table(dataset: AbstractDataset) -> NDArray[Any]:
    """Return all labels, shape ``(len(dataset), n_factors)``."""
    return _read(dataset, slice(None))


def label_column(dataset: AbstractDataset, factor: str | int) -> NDArray[Any]:
    """Return the labels of one factor, shape ``(len(dataset),)``."""
    return _read(dataset, factor_position(dataset, factor))


def factor_position(dataset: AbstractDataset, factor: str | int) -> int:
    """Return the column of a factor, given its name or column."""
    check_labeled(dataset)
    return find_column(dataset.factor_names, factor)


def discrete_factors(dataset: AbstractDataset) -> FactorSpace:
    """Return the factor space of a dataset; raise ``ValueError`` if it has none."""
    check_labeled(dataset)
    if dataset.factor_space is not None:
        return dataset.factor_space
    for column, (name, kind) in enumerate(
        zip(dataset.factor_names, dataset.factor_kinds, strict=True)
    ):
        if kind == "continuous":
            raise ValueError(
                f"All factors must be discrete, but {name!r} is continuous. Bin it, or "
                "select the other factors with keep_labels."
            )
        check_known(label_column(dataset, column), name)
    raise ValueError(
        "Labels must be integers with a factor_space, but those of "
        f"{', '.join(dataset.factor_names)} are floats. Wrap the dataset in Relabeled."
    )


def check_known(column: NDArray[Any], name: str) -> None:
    """Require a label in every row of a column."""
    n_missing = int(np.isnan(column).sum())
    if n_missing:
        raise ValueError(
            f"Every row must have a label of factor {name!r}, but {n_missing} rows "
            "have none. Use a Subset of the rows that have one."
        )


def check_labeled(dataset: AbstractDataset) -> None:
    """Require a dataset with labels."""
    if not dataset.factor_names:
        raise ValueError(f"Labels are required, but dataset {dataset.name!r} has none.")


def _read(dataset: AbstractDataset, columns: int | slice) -> NDArray[Any]:
    check_labeled(dataset)
    rows = np.arange(len(dataset))
    blocks = []
    for start in range(0, len(rows), _BLOCK):
        labels = dataset.factors(rows[start : start + _BLOCK])
        assert labels is not None, "a dataset with factor names must return factors"
        blocks.append(labels[:, columns])
    return np.concatenate(blocks)
