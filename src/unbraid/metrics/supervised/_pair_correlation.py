"""Correlation of latent distances with any other distance, over pairs of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Traversals, all_rows
from unbraid.foundation import (
    Correlation,
    check_count,
    check_option,
    correlate,
    is_constant,
    numpy_generator,
    tied,
)
from unbraid.metrics._inputs import Factors
from unbraid.metrics._score import Score

from ._traversals import (
    along_each_factor,
    no_traversals,
    score_over_factors,
)

Along = Literal["factors", "random"]
Norm = Literal["l1", "l2"]
Pairs = Literal["any", "distinct"]
RowDistance = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.floating]]
"""Function of the first and second rows of pairs that returns distances, ``(n,)``."""

_VALUES_PER_BATCH = 2**22


@dataclass(frozen=True, kw_only=True)
class PairCorrelation:
    """Settings of the correlation of distances over pairs of rows.

    Args:
        caller: Name of the metric, for messages.
        along: Pairs along each factor, or of any two rows.
        correlation: Correlation of ranks or of distances.
        norm: Norm of the difference of two codes.
        pairs: Whether rows may be paired with themselves.
        n_pairs: Number of pairs per factor, at least 2; all if there are fewer.
        seed: Seed of the drawing.
    """

    caller: str
    along: Along
    correlation: Correlation
    norm: Norm
    pairs: Pairs
    n_pairs: int
    seed: int

    def __post_init__(self) -> None:
        check_option(f"{self.caller}: along", self.along, Along)
        check_option(f"{self.caller}: correlation", self.correlation, Correlation)
        check_option(f"{self.caller}: norm", self.norm, Norm)
        check_option(f"{self.caller}: pairs", self.pairs, Pairs)
        check_count(f"{self.caller}: n_pairs", self.n_pairs, least=2)

    @property
    def variant(self) -> str:
        """Text of the options."""
        return f"{self.along}, {self.correlation}, {self.norm}, {self.pairs} pairs"

    def along_factors(
        self,
        codes: NDArray[np.float64],
        factors: Factors,
        reference: RowDistance,
        *,
        name: str,
        variant: str,
    ) -> Score:
        """Return the geometric mean over factors of the correlations along each."""
        per_factor, notes, coverage = {}, [], []
        for factor, traversals in along_each_factor(factors):
            if traversals is None:
                notes.append(
                    f"left out, no rows differ in this factor only: {factor!r}"
                )
                continue
            coverage.append(traversals.coverage)
            latent, other = self._distances(codes, traversals, reference, factor)
            if is_constant(other):
                notes.append(f"left out, all pairs equally far apart: {factor!r}")
                continue
            if is_constant(latent):
                notes.append(f"0 for constant latent distances: {factor!r}")
            per_factor[factor] = correlate(latent, other, self.correlation)
        if not coverage:
            hint = "Score the complete grid, or use along='random'."
            raise no_traversals(self.caller, factors, hint)
        if not per_factor:
            raise ValueError(
                f"{self.caller}: all pairs along every factor have the same distance. "
                "Use along='random' or pairs='any'."
            )
        return score_over_factors(
            per_factor,
            factors,
            name=name,
            variant=variant,
            seed=self.seed,
            details={"coverage": float(np.mean(coverage))},
            notes=notes,
        )

    def over_random_pairs(
        self,
        codes: NDArray[np.float64],
        rows: NDArray[np.int64],
        reference: RowDistance,
        *,
        name: str,
        variant: str,
    ) -> Score:
        """Return the correlation over pairs of any of the given rows."""
        check_count(
            f"{self.caller}: the number of rows with all labels", len(rows), least=2
        )
        latent, other = self._distances(codes, all_rows(rows), reference, "random")
        notes = [
            f"0 for constant {which} distances"
            for which, distances in (("latent", latent), ("reference", other))
            if is_constant(distances)
        ]
        return Score(
            correlate(latent, other, self.correlation),
            name=name,
            variant=variant,
            seed=self.seed,
            note="; ".join(notes),
        )

    def _distances(
        self,
        codes: NDArray[np.float64],
        traversals: Traversals,
        reference: RowDistance,
        stream: str,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # The same pairs for every metric, so that their scores can be compared.
        generator = numpy_generator(self.seed, "pairs", self.along, stream)
        first, second = traversals.pairs(
            self.n_pairs, distinct=self.pairs == "distinct", generator=generator
        )
        other = np.asarray(reference(first, second), dtype=np.float64)
        return tied(latent_distances(codes, first, second, self.norm)), tied(other)


def latent_distances(
    codes: NDArray[np.floating],
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    norm: Norm,
) -> NDArray[np.float64]:
    """Return the distance between the codes of each pair of rows, ``(n_pairs,)``."""
    distances = np.empty(len(first))
    step = max(1, _VALUES_PER_BATCH // codes.shape[1])
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        apart = codes[first[part]].astype(np.float64) - codes[second[part]]
        if norm == "l1":
            distances[part] = np.abs(apart).sum(axis=1)
        else:
            distances[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return distances
