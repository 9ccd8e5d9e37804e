"""The sweep over learned kernels: sizes of squares, radii and learning rates."""

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from unbraid.data import XYSquares
from unbraid.foundation import from_plain, to_plain
from unbraid.models import LIKELIHOODS, KernelAugmented
from unbraid.perception import learn_loss, perceived_distances
from unbraid.reports import draw_kernels
from unbraid_claims import Check, Claim, Evidence, Measured, above, mean_of
from unbraid_claims._threads import one_thread

_SUBSET = 32  # from which the published code draws random pairs


@dataclass(frozen=True, kw_only=True)
class _Size:
    """Values of the sweep at one preset; squares are as large as their spacing."""

    image_size: int
    square_sizes: tuple[int, ...]
    radii: tuple[int, ...]
    learning_rates: tuple[float, float]
    steps: int
    batch_size: int
    n_pairs: int | None
    n_measured: int

    def squares(self, square_size: int) -> XYSquares:
        return XYSquares(image_size=self.image_size, square_size=square_size)

    def cells(self) -> list[tuple[int, int, float]]:
        """Size of squares, radius and learning rate of each kernel."""
        return list(
            itertools.product(self.square_sizes, self.radii, self.learning_rates)
        )


_SMOKE = _Size(
    image_size=8,
    square_sizes=(2, 1),
    radii=(1, 7),
    learning_rates=(0.1, 0.05),
    steps=3,
    batch_size=16,
    n_pairs=None,
    n_measured=200,
)
# Steps and rates are other than published: a step is 100 times as large.
_MINI = _Size(
    image_size=32,
    square_sizes=(8, 4, 2, 1),
    radii=(7, 15, 23, 32),
    learning_rates=(0.1, 0.05),
    steps=150,
    batch_size=64,
    n_pairs=None,
    n_measured=2_000,
)
_PAPER = _Size(
    image_size=64,
    square_sizes=(8, 4, 2, 1),
    radii=(15, 31, 47, 64),
    learning_rates=(1e-3, 5e-4),
    steps=28_800,
    batch_size=512,
    n_pairs=4_096,
    n_measured=50_000,
)


def measure(evidence: Evidence) -> Measured:
    """Learn every kernel of the sweep, and compare their correlations."""
    size = evidence.at(smoke=_SMOKE, mini=_MINI, paper=_PAPER)
    kernels = {}
    for cell in size.cells():
        side, radius, rate = cell
        name = f"squares of {side}, radius {radius}, rate {rate:g}"
        kernels[cell] = evidence.cached(name, lambda cell=cell: _learn(size, *cell))
    plain = {
        side: evidence.cached(
            f"squares of {side}, pixels", lambda side=side: _rank(size, side, "mse")
        )
        for side in size.square_sizes
    }
    ranks = {cell: found["rank"] for cell, found in kernels.items()}
    return Measured(
        checks=_compare(size, ranks, plain),
        figure=_draw(size, kernels),
        remark=f"{len(kernels)} kernels. A rank correlation is the mean of that along "
        "factors and of random pairs from subsets of 32. Learning rates are relative "
        "to the initial kernel. The interval is over pairs of kernels.",
    )


def _compare(
    size: _Size, ranks: dict[tuple[int, int, float], float], plain: dict[int, float]
) -> list[Check]:
    checks = []
    for side in size.square_sizes:
        best = [max(_of(ranks, side, radius)) for radius in size.radii]
        gains = {
            "over squared error": max(best) - plain[side],
            "by the largest kernel over the smallest": best[-1] - best[0],
        }
        checks += [
            Check(
                quantity=f"{side}x{side} squares: rank correlation gained {what}",
                expected="above 0",
                value=gain,
                least=0.0,
            )
            for what, gain in gains.items()
        ]
    high, low = size.learning_rates
    rates = [
        ranks[side, radius, high] - ranks[side, radius, low]
        for side, radius in itertools.product(size.square_sizes, size.radii)
    ]
    quantity = "rank correlation gained by the higher learning rate"
    return [*checks, above(quantity, mean_of(rates))]


def _of(
    ranks: dict[tuple[int, int, float], float], side: int, radius: int
) -> list[float]:
    """Return the correlations of both learning rates."""
    return [rank for cell, rank in ranks.items() if cell[:2] == (side, radius)]


def _learn(size: _Size, side: int, radius: int, rate: float) -> dict[str, Any]:
    # Sums over several threads depend on their number.
    with one_thread():
        learned = learn_loss(
            size.squares(side),
            radius=radius,
            learning_rate=rate,
            steps=size.steps,
            batch_size=size.batch_size,
            n_pairs=size.n_pairs,
        )
    return {
        "loss": to_plain(learned.likelihood, LIKELIHOODS),
        "rank": _rank(size, side, learned.likelihood),
    }


def _rank(size: _Size, side: int, loss: KernelAugmented | str) -> float:
    """Return the mean rank correlation along factors and of random pairs."""
    found = perceived_distances(
        size.squares(side), loss, n_pairs=size.n_measured, subset_size=_SUBSET
    )
    along = np.mean([row.rank for row in found.factors])
    return float((along + found.random.rank) / 2)


def _draw(size: _Size, kernels: dict[tuple[int, int, float], dict[str, Any]]) -> Any:
    """Draw the best kernel of the largest radius for each size of squares."""
    shown = {}
    for side in size.square_sizes:
        largest = [kernels[side, size.radii[-1], rate] for rate in size.learning_rates]
        best = max(largest, key=lambda found: found["rank"])
        shown[f"{side}x{side} squares"] = from_plain(best["loss"], LIKELIHOODS)
    return draw_kernels(shown)


CLAIM = Claim(
    name="michlo-figure-6-1",
    source="Michlo (2022), Figure 6.1 and Table A.6, row 1",
    text="For XYSquares with squares of any size, a kernel can be learned with which "
    "distances follow those of the factors. The largest kernels and the higher "
    "learning rate do best.",
    measure=measure,
)
