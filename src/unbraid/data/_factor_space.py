"""The grid of factors behind a dataset: names, sizes, kinds, and a number per cell."""

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

FactorKind = Literal["ordinal", "categorical", "cyclic"]


@dataclass(frozen=True)
class FactorSpace:
    """Names, sizes and kinds of discrete factors, and the index of every combination.

    A combination of factor values is one row of integers; all combinations are
    numbered in mixed radix, the last factor counting fastest, as the rows of dSprites
    and 3D Shapes are. Everything works on whole arrays.

    Args:
        names: One name per factor, all different.
        sizes: Number of values of each factor, at least 1. Values are ``0 .. size-1``.
        kinds: ``"ordinal"`` (ordered, such as a position), ``"categorical"`` (no order,
            such as a shape) or ``"cyclic"`` (ordered on a circle, such as an angle);
            one per factor, all ordinal when not given.

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
                "FactorSpace: expected as many sizes and kinds as names, got "
                f"{len(self.names)} names, {len(self.sizes)} sizes, {len(kinds)} kinds."
            )
        if len(set(self.names)) < len(self.names):
            raise ValueError(
                f"FactorSpace: expected names that differ, got {self.names}."
            )
        if any(size < 1 for size in self.sizes):
            raise ValueError(
                f"FactorSpace: expected sizes of at least 1, got {self.sizes}."
            )
        unknown = set(kinds) - set(get_args(FactorKind))
        if unknown:
            raise ValueError(
                f"FactorSpace: expected kinds among {get_args(FactorKind)}, "
                f"got {sorted(unknown)}."
            )
        if math.prod(self.sizes) >= 2**63:
            raise ValueError(
                "FactorSpace: expected fewer than 2**63 combinations, got sizes "
                f"{self.sizes}."
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
        """How far the index moves when each factor moves by one, ``(n_factors,)``."""
        sizes = np.array((*self.sizes[1:], 1), dtype=np.int64)
        return np.cumprod(sizes[::-1])[::-1] if self.sizes else sizes[:0]

    def position(self, factor: str | int) -> int:
        """Column of a factor, given its name or its column."""
        if isinstance(factor, str):
            if factor in self.names:
                return self.names.index(factor)
        elif -self.n_factors <= factor < self.n_factors:
            return factor % self.n_factors
        raise ValueError(
            f"FactorSpace: expected one of the factors {', '.join(self.names)} "
            f"(or its column), got {factor!r}."
        )

    def factors(self, indices: NDArray[np.integer]) -> NDArray[np.int64]:
        """Factor values of combinations, shape ``(..., n_factors)``, from indices."""
        indices = self._checked_indices(indices)
        return indices[..., None] // self.strides % np.array(self.sizes, dtype=np.int64)

    def indices(self, factors: NDArray[np.integer]) -> NDArray[np.int64]:
        """Index of combinations, shape ``(...)``, from values ``(..., n_factors)``."""
        factors = np.asarray(factors)
        if factors.ndim < 1 or factors.shape[-1] != self.n_factors:
            raise ValueError(
                f"FactorSpace: expected {self.n_factors} factor values per row, got an "
                f"array of shape {factors.shape}."
            )
        if not np.issubdtype(factors.dtype, np.integer):
            raise TypeError(
                f"FactorSpace: expected integer factor values, got {factors.dtype}."
            )
        if factors.size and ((factors < 0) | (factors >= np.array(self.sizes))).any():
            raise ValueError(
                "FactorSpace: expected factor values from 0 to below the sizes "
                f"{self.sizes}, got values from {factors.min()} to {factors.max()}."
            )
        return factors.astype(np.int64) @ self.strides

    def traversals(
        self, factor: str | int, indices: NDArray[np.integer]
    ) -> NDArray[np.int64]:
        """Indices met when one factor runs through its values and the others stay.

        Args:
            factor: Name or column of the factor that moves.
            indices: Combinations to pass through, shape ``(...)``.

        Returns:
            Indices in the order of the factor's values, shape ``(..., size)``.
        """
        column = self.position(factor)
        indices = self._checked_indices(indices)
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
            fixed: Factors (name or column) that keep the given value in every row.

        Returns:
            Factor values, shape ``(n, n_factors)``.
        """
        factors = generator.integers(0, self.sizes, size=(n, self.n_factors))
        for factor, value in (fixed or {}).items():
            column = self.position(factor)
            if not 0 <= value < self.sizes[column]:
                raise ValueError(
                    f"FactorSpace: expected factor {self.names[column]!r} fixed at a "
                    f"value from 0 to {self.sizes[column] - 1}, got {value}."
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
        """Draw all factors of each row anew, except the ones to keep.

        Args:
            factors: Rows of factor values, shape ``(n, n_factors)``.
            keep: Factors (name or column) that stay as they are in each row.
            generator: Source of randomness.

        Returns:
            New rows, shape ``(n, n_factors)``.
        """
        columns = [self.position(factor) for factor in keep]
        fresh = self.sample(len(factors), generator=generator)
        fresh[:, columns] = np.asarray(factors)[:, columns]
        return fresh

    def _checked_indices(self, indices: NDArray[np.integer]) -> NDArray[np.int64]:
        indices = np.asarray(indices)
        if indices.size and not np.issubdtype(indices.dtype, np.integer):
            raise TypeError(
                f"FactorSpace: expected integer indices, got {indices.dtype}."
            )
        if indices.size and (indices.min() < 0 or indices.max() >= self.size):
            raise IndexError(
                f"FactorSpace: expected indices from 0 to {self.size - 1}, got values "
                f"from {indices.min()} to {indices.max()}."
            )
        return indices.astype(np.int64)
