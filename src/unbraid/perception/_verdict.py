"""Verdicts: whether a VAE is likely to disentangle a factor, before training."""

import math
from dataclasses import dataclass
from typing import Literal

from ._perceived_distance import PerceivedDistance, PerceivedDistances

Expectation = Literal["likely", "partly", "unlikely", "no", "unknown"]

_SAME = 0.02
"""Spread over mean below which all distances count as equal."""
_ORDERED, _HALF_ORDERED = 0.6, 0.3
_LARGE = 0.5
_INVISIBLE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """Prediction for one factor.

    Attributes:
        factor: Name of the factor.
        expectation: Whether the factor will be learned as one ordered latent:
            ``"likely"``, ``"partly"``, ``"unlikely"``, ``"no"`` (nothing in the
            distances leads there), or ``"unknown"``.
        reason: Why, and what to do, in one sentence.
    """

    factor: str
    expectation: Expectation
    reason: str


def disentanglement_verdicts(found: PerceivedDistances) -> tuple[Verdict, ...]:
    """Predict how well a VAE with this loss will learn each factor.

    A VAE first learns what changes its reconstruction loss most, and arranges codes by
    their distances under this loss: in the order of a factor only if images are farther
    apart the more the factor differs. The thresholds are rules of thumb.

    Args:
        found: Result of :func:`perceived_distances`; a few thousand pairs are enough.

    Returns:
        One verdict per factor, in the order of the data.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.perception import perceived_distances
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> found = perceived_distances(squares, n_pairs=1_000)
        >>> disentanglement_verdicts(found)[0].expectation
        'no'

    References:
        Michlo (2022), dissertation, sections 3.3 (constant overlap), 3.5 (order of
        importance) and 4.2 (correlation as an upper bound).
    """
    means = [row.mean for row in found.factors if math.isfinite(row.mean)]
    largest = max([*means, 0.0])
    return tuple(_verdict(row, largest, found) for row in found.factors)


def _verdict(
    row: PerceivedDistance, largest: float, found: PerceivedDistances
) -> Verdict:
    expectation, reason = _judge(row, largest, found)
    return Verdict(factor=row.factor, expectation=expectation, reason=reason)


def _judge(
    row: PerceivedDistance, largest: float, found: PerceivedDistances
) -> tuple[Expectation, str]:
    if not math.isfinite(row.mean):
        return "unknown", "no two images differ in this factor only"
    if row.mean <= _INVISIBLE * max(found.random.mean, largest):
        return "no", "it changes almost nothing that this loss measures"
    first = "among the first" if row.mean >= _LARGE * largest else "late"
    if row.n_values == 2:
        return "likely", f"two values, learned {first}"
    if row.std <= _SAME * row.mean:
        return "no", (
            "any two values are equally far apart under this loss (constant "
            "overlap); try a kernel-augmented loss, or supervision"
        )
    if row.order >= _ORDERED:
        return (
            "likely",
            f"learned {first}: images are farther apart the more it differs",
        )
    if row.order >= _HALF_ORDERED:
        return "partly", (
            f"learned {first}: near values look alike, but distances of far ones do "
            "not follow their order; more overlap or another loss would help"
        )
    return "unlikely", (
        f"learned {first}, but distances do not follow its order: expect several "
        "latents, or none; try another order of its values, another loss, or "
        "supervision"
    )
