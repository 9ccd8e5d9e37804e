"""Spread of codes along traversals, per latent and in the main direction."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data import Traversals
from unbraid.foundation import check_count, numpy_generator
from unbraid.metrics._inputs import Factors, read_inputs, require_two_latents
from unbraid.metrics._score import Score

from ._traversals import (
    LEAST_TRAVERSALS,
    complete_along_each_factor,
    score_over_factors,
)

_VALUES_PER_BATCH = 2**22


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Variances of the codes along each of some traversals.

    Args:
        weights: Share of each traversal in an average, ``(n_traversals,)``.
        latents: Variance of every latent, ``(n_traversals, n_latents)``.
        main: Variance along the first principal direction, ``(n_traversals,)``.
    """

    weights: NDArray[np.float64]
    latents: NDArray[np.float64]
    main: NDArray[np.float64]

    @property
    def moves(self) -> NDArray[np.bool_]:
        """Whether any code changes along each traversal, ``(n_traversals,)``."""
        return self.latents.max(axis=1) > 0.0

    def share(self, variance: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a variance as a share of the total, rescaled from 0 (even) to 1.

        Eq. 4.5 and 4.8 of the dissertation; 0 where nothing moves.
        """
        whole = self.latents.sum(axis=1)
        share = np.divide(variance, whole, out=np.zeros_like(whole), where=self.moves)
        return rescale(share, self.latents.shape[1])


def rescale(share: ArrayLike, n_latents: int) -> NDArray[np.float64]:
    """Rescale shares from ``1/n .. 1`` to ``0 .. 1``, and clip rounding errors."""
    even = 1.0 / n_latents
    return np.clip((np.asarray(share) - even) / (1.0 - even), 0.0, 1.0)


def ratio_over_factors(
    caller: str,
    codes: ArrayLike,
    factors: ArrayLike | Factors,
    ratio: Callable[[Spread], float],
    *,
    name: str,
    variant: str = "",
    n_traversals: int,
    seed: int,
) -> Score:
    """Return the geometric mean over factors of a ratio of the spread along each."""
    codes, factors = read_inputs(caller, codes, factors)
    require_two_latents(caller, codes)
    check_count(f"{caller}: n_traversals", n_traversals)
    per_factor, left_out, notes, numbers = {}, [], [], []
    for factor, traversals in complete_along_each_factor(factors):
        if traversals is None:
            left_out.append(factor)
            continue
        # The same traversals for every ratio, so that one bounds the other.
        generator = numpy_generator(seed, "traversals", factor)
        spread = measure_spread(codes, traversals, n_traversals, generator)
        per_factor[factor] = ratio(spread)
        numbers.append(min(len(traversals.lengths), n_traversals))
        if not spread.moves.all():
            notes.append(f"0 where no code moves along {factor!r}")
    if not per_factor:
        raise ValueError(too_few_traversals(caller, factors))
    if left_out:
        names = ", ".join(map(repr, left_out))
        notes.append(f"left out, too few complete traversals: {names}")
    return score_over_factors(
        per_factor,
        factors,
        name=name,
        variant=variant,
        seed=seed,
        details={"traversals": min(numbers)},
        notes=notes,
    )


def too_few_traversals(caller: str, factors: Factors) -> str:
    """Return the message for a table with too few complete traversals."""
    known = int(factors.known.all(axis=1).sum())
    return (
        f"{caller}: too few complete traversals: no factor has {LEAST_TRAVERSALS} "
        f"among the {known} rows (of {len(factors)}) that have all labels. A complete "
        "traversal has every value of one factor and the same values of all others. "
        "Score a model with its dataset, or encode the complete grid or whole "
        "traversals."
    )


def measure_spread(
    codes: NDArray[np.float64],
    traversals: Traversals,
    n_traversals: int,
    generator: np.random.Generator,
) -> Spread:
    """Return the spread along all traversals, or along some random ones."""
    lengths = traversals.lengths
    if len(lengths) <= n_traversals:
        chosen, times = np.arange(len(lengths)), lengths
    else:
        row = generator.integers(0, len(traversals.rows), n_traversals)
        passed = np.searchsorted(np.cumsum(lengths), row, side="right")
        chosen, times = np.unique(passed, return_counts=True)
    latents = np.empty((len(chosen), codes.shape[1]))
    main = np.empty(len(chosen))
    for at, rows in _of_equal_length(traversals, chosen, codes.shape[1]):
        points = codes[rows]
        # Exactly zero for constant latents: a mean of equal numbers is not exact.
        points -= points[:, :1].copy()
        points -= points.mean(axis=1, keepdims=True)
        freedom = points.shape[1] - 1
        latents[at] = np.einsum("tij,tij->tj", points, points) / freedom
        turned = points.transpose(0, 2, 1)
        # Both products have the same largest eigenvalue; the smaller one is cheaper.
        wide = points.shape[1] < points.shape[2]
        product = points @ turned if wide else turned @ points
        main[at] = np.linalg.eigvalsh(product)[:, -1] / freedom
    return Spread(weights=times / times.sum(), latents=latents, main=main)


def _of_equal_length(
    traversals: Traversals, chosen: NDArray[np.int64], n_latents: int
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield indices of chosen traversals and their rows ``(n, length)``, in batches."""
    starts, lengths = traversals.starts[chosen], traversals.lengths[chosen]
    for length in np.unique(lengths):
        indices = np.flatnonzero(lengths == length)
        step = max(1, _VALUES_PER_BATCH // int(length * n_latents))
        for first in range(0, len(indices), step):
            part = indices[first : first + step]
            yield part, traversals.rows[starts[part, None] + np.arange(length)]
