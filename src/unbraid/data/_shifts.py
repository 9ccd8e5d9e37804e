"""Distribution shifts: correlated factors, and combinations that are held out."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_not_empty, check_positive

from ._dataset import AbstractDataset
from ._labels import check_known, factor_position, label_column
from ._views import Reweighted, Subset


def correlate(
    dataset: AbstractDataset,
    first: str | int,
    second: str | int,
    *,
    width: float = 0.2,
    inverse: bool = False,
) -> Reweighted:
    r"""Correlate two factors, by drawing rows near a line more often.

    The rows stay the same. Their weights are

    .. math::
        \exp\bigl(-(c_1 - c_2)^2 / (2\,\mathrm{width}^2)\bigr)

    where :math:`c` is a factor's value scaled to [0, 1]. They are multiplied with the
    weights that the dataset already has, so that several pairs can be correlated.

    Args:
        dataset: A dataset with a label of both factors in every row.
        first: Name or column of a factor; a categorical one is ordered by its codes.
        second: Name or column of another factor.
        width: Standard deviation around the line, positive. A smaller width means a
            stronger correlation: with 0.1, two factors are nearly the same; with 1,
            they are nearly independent.
        inverse: Whether the correlation is negative: :math:`1 - c_2` instead of
            :math:`c_2`.

    Returns:
        A view of the same rows with weights.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1, image_size=24)
        >>> correlate(squares, "x_R", "y_R", width=0.5).weights.reshape(3, 3).round(2)
        array([[1.  , 0.61, 0.14],
               [0.61, 1.  , 0.61],
               [0.14, 0.61, 1.  ]])

    References:
        Traeuble et al. (2021), On Disentangled Representations Learned from Correlated
        Data, the joint density of two correlated factors. Here both factors are scaled
        (as in Roth et al. 2023), so that the width has the same meaning for all.
        https://arxiv.org/abs/2006.07886
    """
    check_positive("width", width)
    columns = [factor_position(dataset, factor) for factor in (first, second)]
    if columns[0] == columns[1]:
        raise ValueError(
            f"first and second must be different factors, got {first!r} and {second!r}."
        )
    c_1, c_2 = (_scaled(dataset, column) for column in columns)
    gap = c_1 - (1 - c_2 if inverse else c_2)
    weights = np.exp(-(gap**2) / (2 * width**2))
    if dataset.weights is not None:
        weights *= dataset.weights
    return Reweighted(dataset, weights)


def hold_out(
    dataset: AbstractDataset, conditions: Mapping[str | int, Iterable[float]]
) -> tuple[Subset, Subset]:
    """Hold out the rows in which all conditions are met, for tests of generalization.

    Args:
        dataset: A dataset with labels.
        conditions: Values of the rows to hold out, by name or column of the factor. A
            row without such a label is never held out.

    Returns:
        Views of the rows to train on, and of the rows held out; neither is empty.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1)
        >>> train, test = hold_out(squares, {"x_R": [0], "y_R": range(4, 8)})
        >>> len(train), len(test)
        (60, 4)
    """
    check_not_empty("conditions", conditions)
    is_held_out = np.ones(len(dataset), dtype=bool)
    for factor, values in conditions.items():
        is_held_out &= _has_value(dataset, factor, list(values))
    n_held_out = int(is_held_out.sum())
    if n_held_out in (0, len(dataset)):
        raise ValueError(
            f"conditions must be met by some but not all of the {len(dataset)} rows, "
            f"but {n_held_out} meet them."
        )
    return (
        Subset(dataset, np.flatnonzero(~is_held_out)),
        Subset(dataset, np.flatnonzero(is_held_out)),
    )


def _scaled(dataset: AbstractDataset, column: int) -> NDArray[np.float64]:
    name, space = dataset.factor_names[column], dataset.factor_space
    values = label_column(dataset, column)
    check_known(values, name)
    # Without a factor space, only the observed range is known.
    low, high = (0, space.sizes[column] - 1) if space else (values.min(), values.max())
    if low == high:
        raise ValueError(f"Factor {name!r} must vary, but it has a single value.")
    return (values - low) / (high - low)


def _has_value(
    dataset: AbstractDataset, factor: str | int, values: list[float]
) -> NDArray[np.bool_]:
    labels = label_column(dataset, factor)
    space = dataset.factor_space
    if space is not None:
        size = space.sizes[space.position(factor)]
        impossible = sorted(set(values) - set(range(size)))
        if impossible:
            raise ValueError(
                f"Values of factor {factor!r} must be integers between 0 and "
                f"{size - 1}, got {impossible[0]}."
            )
    return np.isin(labels, values)
