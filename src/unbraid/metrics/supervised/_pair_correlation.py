"""Correlation of latent distances with any other distance, over pairs of rows."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data import Traversals, all_rows
from unbraid.foundation import (
    Correlation,
    correlate,
    is_constant,
    numpy_generator,
    tied,
)
from unbraid.metrics._inputs import Factors
from unbraid.metrics._options import check_option
from unbraid.metrics._score import Score
from unbraid.metrics._sizes import check_size

from ._traversals import (
    along_each_factor,
    no_traversals,
    score_over_factors,
)

Along = Literal["factors", "random"]
Norm = Literal["l1", "l2"]
Pairs = Literal["any", "distinct"]
RowDistance = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.floating]]
"""Distance of each pair, ``(n,)``, from the rows of its first and its second."""

_NUMBERS_AT_ONCE = 2**22


@dataclass(frozen=True, kw_only=True)
class PairCorrelation:
    """How pairs are drawn, latent distances measured and correlations taken.

    Args:
        who: Name of the metric, for messages.
        along: Pairs along each factor, or of any two rows.
        correlation: Of ranks or of the distances themselves.
        norm: Of the difference of two codes.
        pairs: Whether a row may be paired with its own like.
        n_pairs: Pairs per factor, at least 2; all, if there are fewer.
        seed: Seed of the drawing.
    """

    who: str
    along: Along
    correlation: Correlation
    norm: Norm
    pairs: Pairs
    n_pairs: int
    seed: int

    def __post_init__(self) -> None:
        check_option(self.who, "along", self.along, Along)
        check_option(self.who, "correlation", self.correlation, Correlation)
        check_option(self.who, "norm", self.norm, Norm)
        check_option(self.who, "pairs", self.pairs, Pairs)
        check_size(self.who, "n_pairs", self.n_pairs, least=2)

    @property
    def variant(self) -> str:
        """The options in words."""
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
        """Geometric mean over factors of the correlations along each of them."""
        per_factor, notes, coverage = {}, [], []
        for factor, traversals in along_each_factor(factors):
            if traversals is None:
                notes.append(f"left out, no rows differ in it alone: {factor!r}")
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
            hint = "Score the complete grid, or take along='random'."
            raise no_traversals(self.who, factors, hint)
        if not per_factor:
            raise ValueError(
                f"{self.who}: expected pairs at different distances, got equal "
                "distances along every factor. Take along='random' or pairs='any'."
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
        """One correlation over pairs of any of the given rows."""
        if len(rows) < 2:
            raise ValueError(
                f"{self.who}: expected at least two rows that have all labels, got "
                f"{len(rows)}."
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
    """Distance of two rows of codes for every pair of rows, ``(n_pairs,)``."""
    distances = np.empty(len(first))
    step = max(1, _NUMBERS_AT_ONCE // codes.shape[1])
    for start in range(0, len(first), step):
        part = slice(start, start + step)
        apart = codes[first[part]].astype(np.float64) - codes[second[part]]
        if norm == "l1":
            distances[part] = np.abs(apart).sum(axis=1)
        else:
            distances[part] = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return distances
