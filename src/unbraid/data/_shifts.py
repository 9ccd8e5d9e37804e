"""Training data that differ from the world: correlated factors, combinations unseen."""

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

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
    r"""Make two factors rise together, by drawing rows near a line more often.

    Every row keeps its place; its weight is

    .. math::
        \exp\bigl(-(c_1 - c_2)^2 / (2\,\mathrm{width}^2)\bigr)

    where :math:`c` is a factor's value scaled to run from 0 to 1. Weights that the
    dataset already has are multiplied, so that several pairs can be correlated in turn.

    Args:
        dataset: A dataset with a label of both factors in every row.
        first: Name or column of a factor; the codes of a categorical one are taken as
            an order.
        second: Name or column of another factor.
        width: Standard deviation about the line, above 0. Small is strong: at 0.1 two
            factors are nearly one, at 1 they are nearly independent.
        inverse: Let one fall when the other rises: :math:`1 - c_2` in place of
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
        Data, the joint density of two correlated factors; both factors are scaled here
        (as in Roth et al. 2023), so that the width means the same for all of them.
        https://arxiv.org/abs/2006.07886
    """
    if not (width > 0 and np.isfinite(width)):
        raise ValueError(f"correlate: expected a width above 0, got {width}.")
    columns = [factor_position(dataset, f, who="correlate") for f in (first, second)]
    if columns[0] == columns[1]:
        raise ValueError(
            f"correlate: expected two different factors, got {first!r} and {second!r}."
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
    """Split off the rows in which every condition holds, to test on what was not seen.

    Args:
        dataset: A dataset with labels.
        conditions: For each factor (name or column) that matters, the values it has in
            the rows to hold out. A row without that label is never held out.

    Returns:
        The rows to train on, and the rows held out: both views, neither empty.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(n_squares=1)
        >>> train, test = hold_out(squares, {"x_R": [0], "y_R": range(4, 8)})
        >>> len(train), len(test)
        (60, 4)
    """
    if not conditions:
        raise ValueError("hold_out: expected at least one condition, got none.")
    is_held_out = np.ones(len(dataset), dtype=bool)
    for factor, values in conditions.items():
        is_held_out &= _has_value(dataset, factor, list(values))
    n_held_out = int(is_held_out.sum())
    if n_held_out in (0, len(dataset)):
        raise ValueError(
            f"hold_out: expected conditions that hold in some of the {len(dataset)} "
            f"rows and not in all, got {n_held_out} rows."
        )
    return (
        Subset(dataset, np.flatnonzero(~is_held_out)),
        Subset(dataset, np.flatnonzero(is_held_out)),
    )


def _scaled(dataset: AbstractDataset, column: int) -> NDArray[np.float64]:
    name, space = dataset.factor_names[column], dataset.factor_space
    values = label_column(dataset, column, who="correlate")
    check_known(values, name, who="correlate")
    # Without a factor space nobody says how far a factor could go, only how far it did.
    low, high = (0, space.sizes[column] - 1) if space else (values.min(), values.max())
    if low == high:
        raise ValueError(
            f"correlate: expected factors that vary, got {name!r} with one value."
        )
    return (values - low) / (high - low)


def _has_value(
    dataset: AbstractDataset, factor: str | int, values: list[float]
) -> NDArray[np.bool_]:
    labels = label_column(dataset, factor, who="hold_out")
    space = dataset.factor_space
    if space is not None:
        size = space.sizes[space.position(factor)]
        impossible = sorted(set(values) - set(range(size)))
        if impossible:
            raise ValueError(
                f"hold_out: expected values of factor {factor!r} from 0 to {size - 1}, "
                f"got {impossible[0]}."
            )
    return np.isin(labels, values)
