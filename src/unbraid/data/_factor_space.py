"""The grid of factors of a dataset: names, sizes, kinds, and an index per cell."""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_integers, check_option, check_unique

FactorKind = Literal["ordinal", "categorical", "cyclic"]


@dataclass(frozen=True)
class FactorSpace:
    """Names, sizes and kinds of discrete factors, and the index of every combination.

    A combination of factor values is a row of integers. All combinations are numbered
    in mixed radix, with the last factor varying fastest, as in dSprites and 3D Shapes.
    All methods work on arrays.

    Args:
        names: Names of the factors, all different.
        sizes: Number of values of each factor, at least 1. Values are ``0 .. size-1``.
        kinds: Kind of each factor: ``"ordinal"`` (ordered, such as a position),
            ``"categorical"`` (no order, such as a shape) or ``"cyclic"`` (ordered on a
            circle, such as an angle). Default: all ordinal.

    Example:
        >>> space = FactorSpace(("shape", "x"), (2, 3), ("categorical", "ordinal"))
        >>> space.factors(np.array([0, 4]))
        array([[0, 0],
               [1, 1]])
        >>> space.indices(np.array([[1, 1]]))
        array([4])
        >>> space.traversals("x", np.array([4]))
        array([[3, 4, 5]])
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    kinds: tuple[FactorKind, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(str(name) for name in self.names))
        object.__setattr__(self, "sizes", tuple(map(operator.index, self.sizes)))
        kinds = tuple(self.kinds) or ("ordinal",) * len(self.names)
        object.__setattr__(self, "kinds", kinds)
        if not len(self.names) == len(self.sizes) == len(kinds):
            raise ValueError(
                "names, sizes and kinds must have the same length, got "
                f"{len(self.names)} names, {len(self.sizes)} sizes, {len(kinds)} kinds."
            )
        check_unique("names", self.names)
        check_integers("sizes", self.sizes, least=1)
        for index, kind in enumerate(kinds):
            check_option(f"kinds[{index}]", kind, FactorKind)
        if math.prod(self.sizes) >= 2**63:
            raise ValueError(
                f"There must be fewer than 2**63 combinations, got sizes {self.sizes}."
            )

    @property
    def n_factors(self) -> int:
        """Number of factors."""
        return len(self.names)

    @property
    def size(self) -> int:
        """Number of combinations of factor values."""
        return math.prod(self.sizes)

    @cached_property
    def strides(self) -> NDArray[np.int64]:
        """Change of the index when each factor changes by one, ``(n_factors,)``."""
        sizes = np.array((*self.sizes[1:], 1), dtype=np.int64)
        return np.cumprod(sizes[::-1])[::-1] if self.sizes else sizes[:0]

    def position(self, factor: str | int) -> int:
        """Return the column of a factor, given its name or column."""
        return find_column(self.names, factor)

    def factors(self, indices: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the factor values ``(..., n_factors)`` of indices ``(...)``."""
        indices = self._check_indices(indices)
        return indices[..., None] // self.strides % np.array(self.sizes, dtype=np.int64)

    def indices(self, factors: NDArray[np.integer]) -> NDArray[np.int64]:
        """Return the indices ``(...)`` of factor values ``(..., n_factors)``."""
        factors = np.asarray(factors)
        check_factor_values(factors, self.n_factors)
        if factors.size and ((factors < 0) | (factors >= np.array(self.sizes))).any():
            raise ValueError(
                "Factor values must be at least 0 and below the sizes "
                f"{self.sizes}, got values from {factors.min()} to {factors.max()}."
            )
        return factors.astype(np.int64) @ self.strides

    def traversals(
        self, factor: str | int, indices: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Return the indices where one factor takes all values and the others stay.

        Args:
            factor: Name or column of the factor that varies.
            indices: Indices of combinations to start from, shape ``(...)``.

        Returns:
            Indices in the order of the factor's values, shape ``(..., size)``.
        """
        column = self.position(factor)
        indices = self._check_indices(indices)
        stride, size = self.strides[column], self.sizes[column]
        start = indices - (indices // stride % size) * stride
        return start[..., None] + stride * np.arange(size)

    def sample(
        self,
        n: int,
        *,
        generator: np.random.Generator,
        fixed: Mapping[str | int, int] | None = None,
    ) -> NDArray[np.int64]:
        """Draw ``n`` rows of independent uniform factor values, with replacement.

        Args:
            n: Number of rows.
            generator: Source of randomness.
            fixed: Fixed values by name or column of the factor.

        Returns:
            Factor values, shape ``(n, n_factors)``.
        """
        factors = generator.integers(0, self.sizes, size=(n, self.n_factors))
        for factor, value in (fixed or {}).items():
            column = self.position(factor)
            if not 0 <= value < self.sizes[column]:
                raise ValueError(
                    f"The fixed value of factor {self.names[column]!r} must be between "
                    f"0 and {self.sizes[column] - 1}, got {value}."
                )
            factors[:, column] = value
        return factors

    def resample(
        self,
        factors: NDArray[np.integer],
        keep: Sequence[str | int],
        *,
        generator: np.random.Generator,
    ) -> NDArray[np.int64]:
        """Draw new values of all factors of each row, except those to keep.

        Args:
            factors: Rows of factor values, shape ``(n, n_factors)``.
            keep: Names or columns of the factors whose values are kept.
            generator: Source of randomness.

        Returns:
            New rows, shape ``(n, n_factors)``.
        """
        columns = [self.position(factor) for factor in keep]
        fresh = self.sample(len(factors), generator=generator)
        fresh[:, columns] = np.asarray(factors)[:, columns]
        return fresh

    def _check_indices(self, indices: NDArray[np.integer]) -> NDArray[np.int64]:
        indices = np.asarray(indices)
        if indices.size and not np.issubdtype(indices.dtype, np.integer):
            raise TypeError(f"indices must be integers, got {indices.dtype}.")
        check_index_range(indices, self.size)
        return indices.astype(np.int64)


def find_column(names: Sequence[str], factor: str | int) -> int:
    """Return the column of a factor, given its name or column."""
    if isinstance(factor, str):
        if factor in names:
            return names.index(factor)
    elif -len(names) <= factor < len(names):
        return factor % len(names)
    raise ValueError(
        f"There is no factor {factor!r}. Choose among {', '.join(names)}, or give a "
        "column."
    )


def check_index_range(indices: NDArray[Any], length: int) -> None:
    """Require indices between 0 and ``length - 1``."""
    if indices.size and (indices.min() < 0 or indices.max() >= length):
        raise IndexError(
            f"indices must be between 0 and {length - 1}, got values from "
            f"{indices.min()} to {indices.max()}."
        )


def check_factor_values(factors: NDArray[Any], n_factors: int) -> None:
    """Require integer factor values of shape ``(..., n_factors)``."""
    if factors.ndim < 1 or factors.shape[-1] != n_factors:
        raise ValueError(
            f"There must be {n_factors} factor values per row, got an array of shape "
            f"{factors.shape}."
        )
    if not np.issubdtype(factors.dtype, np.integer):
        raise TypeError(f"Factor values must be integers, got {factors.dtype}.")
