"""The numbers behind the pictures: computed here, drawn elsewhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace


@dataclass(frozen=True)
class FactorTraversals:
    """What each factor of a dataset does to an image, the others held still.

    Attributes:
        dataset: Name of the dataset.
        factors: Name of each factor.
        images: For each factor, images while it runs through its values,
            ``(n_values, channels, height, width)``.
    """

    dataset: str
    factors: tuple[str, ...]
    images: tuple[NDArray[np.uint8], ...]


def factor_traversals(
    dataset: AbstractDataset, *, n_values: int = 8, base: int | None = None
) -> FactorTraversals:
    """Images while each factor in turn runs through its values.

    Args:
        dataset: A dataset that is the complete grid of its factors.
        n_values: Values shown of each factor, spread evenly from first to last.
        base: Row to pass through. When not given, ordered factors stand in the middle,
            categories at the last, and cyclic factors (often hues) apart from another.

    Example:
        >>> from unbraid.data import XYSquares
        >>> [images.shape for images in factor_traversals(XYSquares()).images][:2]
        [(8, 3, 64, 64), (8, 3, 64, 64)]
    """
    space = dataset.factor_space
    if space is None or not dataset.is_grid:
        raise ValueError(
            "factor_traversals: expected a dataset that holds every combination of its "
            f"factors, got {dataset.name!r}."
        )
    if base is None:
        base = int(space.indices(_middle(space)))
    images = []
    for factor, size in zip(space.names, space.sizes, strict=True):
        values = np.linspace(0, size - 1, min(n_values, size)).round().astype(int)
        rows = space.traversals(factor, np.array(base))[values]
        images.append(dataset.images(rows))
    return FactorTraversals(dataset.name, space.names, tuple(images))


def _middle(space: FactorSpace) -> NDArray[np.int64]:
    """A combination from which every factor can be seen to change."""
    n_cyclic, seen, values = space.kinds.count("cyclic"), 0, []
    for size, kind in zip(space.sizes, space.kinds, strict=True):
        if kind == "ordinal":
            values.append(size // 2)
        elif kind == "cyclic":
            values.append(seen * size // n_cyclic)
            seen += 1
        else:
            values.append(size - 1)
    return np.array(values)
