"""Distances between factor values, as exact integers."""

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._factor_space import FactorSpace

DistanceKind = Literal["changed", "l1", "scaled"]
CyclicKind = Literal["line", "circle"]


def factor_distance(
    first: ArrayLike,
    second: ArrayLike,
    space: FactorSpace,
    kind: DistanceKind = "scaled",
    *,
    cyclic: CyclicKind = "line",
) -> NDArray[np.int64]:
    r"""Distance between rows of factor values, without rounding.

    ``"changed"`` counts the factors that differ, ``"l1"`` sums the steps between their
    values, and ``"scaled"`` sums the steps as shares of each factor's range,
    :math:`\sum_i |a_i - b_i| / (f_i - 1)`. Shares are added as whole numbers over the
    common denominator of :func:`factor_distance_denominator`, because sums of floats
    differ in their last digit where distances are equal, and order what is tied.

    Args:
        first: Factor values, integers, shape ``(..., n_factors)``.
        second: Factor values, integers, of a shape that broadcasts with ``first``.
        space: Sizes and kinds of the factors; a factor of size 1 adds nothing.
        kind: Which distance.
        cyclic: How to count steps of a cyclic factor: along the line of its codes, as
            the dissertation does, or the shorter way round the circle, where the
            farthest value (half way round) is the whole range.

    Returns:
        Distances times the denominator, from 0, shape ``(...)``.

    Example:
        >>> space = FactorSpace(("x", "y"), (3, 4))
        >>> factor_distance([[0, 0], [0, 0]], [[1, 1], [2, 3]], space)
        array([ 5, 12])
        >>> factor_distance_denominator(space)
        6

    References:
        Michlo (2022), dissertation, Eq. 5.6 (changed), 5.9 (l1) and 5.11 (scaled).
    """
    first, second = _checked(first, space), _checked(second, space)
    multipliers = [
        factor_distance_denominator(space, kind, cyclic=cyclic) // span if span else 0
        for span in _spans(space, kind, cyclic)
    ]
    steps = np.abs(first - second)
    if kind == "changed":
        steps = (steps > 0).astype(np.int64)
    elif cyclic == "circle":
        is_cyclic = np.array([factor == "cyclic" for factor in space.kinds])
        steps = np.where(is_cyclic, np.minimum(steps, space.sizes - steps), steps)
    return steps @ np.array(multipliers, dtype=np.int64)


def factor_distance_denominator(
    space: FactorSpace, kind: DistanceKind = "scaled", *, cyclic: CyclicKind = "line"
) -> int:
    """What to divide :func:`factor_distance` by, to get the distance of the paper.

    Args:
        space: Sizes and kinds of the factors.
        kind: Which distance; only ``"scaled"`` has a denominator other than 1.
        cyclic: As in :func:`factor_distance`.

    Returns:
        The least common multiple of the ranges of the factors.

    Example:
        >>> factor_distance_denominator(FactorSpace(("x", "y"), (7, 11)))
        30
    """
    denominator = math.lcm(*(span for span in _spans(space, kind, cyclic) if span))
    if denominator * space.n_factors >= 2**63:
        raise ValueError(
            "factor_distance: expected sizes whose scaled distances fit in 64 bits, "
            f"got {space.sizes}."
        )
    return denominator


def _spans(space: FactorSpace, kind: DistanceKind, cyclic: CyclicKind) -> list[int]:
    """Range of each factor that counts as distance one; 0 for a constant factor."""
    if kind not in get_args(DistanceKind) or cyclic not in get_args(CyclicKind):
        raise ValueError(
            f"factor_distance: expected a kind among {get_args(DistanceKind)} and "
            f"cyclic among {get_args(CyclicKind)}, got {kind!r} and {cyclic!r}."
        )
    if kind != "scaled":
        return [1] * space.n_factors
    return [
        size // 2 if cyclic == "circle" and factor == "cyclic" else size - 1
        for size, factor in zip(space.sizes, space.kinds, strict=True)
    ]


def _checked(factors: ArrayLike, space: FactorSpace) -> NDArray[np.int64]:
    array = np.asarray(factors)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(
            f"factor_distance: expected integer factor values, got {array.dtype}."
        )
    if array.ndim < 1 or array.shape[-1] != space.n_factors:
        raise ValueError(
            f"factor_distance: expected {space.n_factors} factor values per row, got "
            f"an array of shape {array.shape}."
        )
    # Signed before anything is subtracted: 1 - 2 is 255 in the bytes of a small table.
    return array.astype(np.int64)
