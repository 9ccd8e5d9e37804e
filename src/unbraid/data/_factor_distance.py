"""Distances between factor values, as exact integers."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_option

from ._factor_space import FactorSpace, check_factor_values

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
    values, and ``"scaled"`` sums the steps as fractions of each factor's range,
    :math:`\sum_i |a_i - b_i| / (f_i - 1)`. Fractions are added as integers over the
    common denominator of :func:`factor_distance_denominator`, because sums of floats
    may differ in the last digit although the distances are equal.

    Args:
        first: Factor values, integers, shape ``(..., n_factors)``.
        second: Factor values, integers, of a shape that broadcasts with ``first``.
        space: Sizes and kinds of the factors; a factor of size 1 adds nothing.
        kind: Kind of distance: ``"changed"``, ``"l1"`` or ``"scaled"``.
        cyclic: Distance of values of a cyclic factor: ``"line"`` is the difference of
            the integers, as in the dissertation; ``"circle"`` is the shorter way around
            the circle, where the farthest value, half way around, is the whole range.

    Returns:
        Distances times the denominator, at least 0, shape ``(...)``.

    Example:
        >>> space = FactorSpace(("x", "y"), (3, 4))
        >>> factor_distance([[0, 0], [0, 0]], [[1, 1], [2, 3]], space)
        array([ 5, 12])
        >>> factor_distance_denominator(space)
        6

    References:
        Michlo (2022), dissertation, Eq. 5.6 (changed), 5.9 (l1) and 5.11 (scaled).
    """
    first, second = _to_signed(first, space), _to_signed(second, space)
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
    """Denominator by which :func:`factor_distance` is multiplied to be an integer.

    Args:
        space: Sizes and kinds of the factors.
        kind: Kind of distance; only ``"scaled"`` has a denominator other than 1.
        cyclic: Distance of values of a cyclic factor, as in :func:`factor_distance`.

    Returns:
        The least common multiple of the ranges of the factors.

    Example:
        >>> factor_distance_denominator(FactorSpace(("x", "y"), (7, 11)))
        30
    """
    denominator = math.lcm(*(span for span in _spans(space, kind, cyclic) if span))
    if denominator * space.n_factors >= 2**63:
        raise ValueError(
            "Scaled distances do not fit into 64 bits for factors of sizes "
            f"{space.sizes}."
        )
    return denominator


def _spans(space: FactorSpace, kind: DistanceKind, cyclic: CyclicKind) -> list[int]:
    """Return the range of each factor, which is a distance of 1; 0 if constant."""
    check_option("kind", kind, DistanceKind)
    check_option("cyclic", cyclic, CyclicKind)
    if kind != "scaled":
        return [1] * space.n_factors
    return [
        size // 2 if cyclic == "circle" and factor == "cyclic" else size - 1
        for size, factor in zip(space.sizes, space.kinds, strict=True)
    ]


def _to_signed(factors: ArrayLike, space: FactorSpace) -> NDArray[np.int64]:
    array = np.asarray(factors)
    check_factor_values(array, space.n_factors)
    # Signed before anything is subtracted: 1 - 2 is 255 in unsigned bytes.
    return array.astype(np.int64)
