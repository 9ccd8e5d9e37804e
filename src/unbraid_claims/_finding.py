"""Measured numbers, the claimed ones, and the verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "does not hold", "cannot be told"]
Interval = tuple[float, float]
Estimate = tuple[float, Interval | None]
"""A number and its 95% interval; ``None`` if the number is not random."""

VERDICTS: tuple[Verdict, ...] = ("does not hold", "cannot be told", "holds")
"""Verdicts in the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """A number that decides whether a claim holds.

    Args:
        quantity: Description of the measured quantity.
        expected: Description of the value in the source.
        value: Measured value.
        interval: 95% interval of the value; ``None`` if it is not random.
        least: Smallest value for which the claim holds.
        most: Largest value for which the claim holds.

    Example:
        >>> Check(quantity="gain", expected="above 0", value=0.2,
        ...       interval=(-0.1, 0.5), least=0.0).verdict
        'cannot be told'
    """

    quantity: str
    expected: str
    value: float
    interval: Interval | None = None
    least: float = -math.inf
    most: float = math.inf

    def __post_init__(self) -> None:
        if not self.least < self.most or self.least == -self.most == -math.inf:
            raise ValueError(
                "least must be below most, and at least one of them finite, got "
                f"{self.least} and {self.most}."
            )

    @property
    def verdict(self) -> Verdict:
        """Verdict, which depends on whether the interval is inside of the bounds."""
        low, high = self.interval or (self.value, self.value)
        if not (math.isfinite(low) and math.isfinite(high)):
            return "cannot be told"
        # An interval that touches a bound, such as (0, 0) and 0, is not inside.
        is_inside = self.least < low and high < self.most
        if is_inside or (self.interval is None and self.least <= low <= self.most):
            return "holds"
        if high < self.least or low > self.most:
            return "does not hold"
        return "cannot be told"


def above(
    quantity: str, found: Estimate, bound: float = 0.0, *, expected: str = ""
) -> Check:
    """Return a check that a number is above a bound.

    Args:
        quantity: Description of the measured quantity.
        found: Measured value and its interval.
        bound: Value that the claim exceeds.
        expected: Description of the value in the source. Default: the bound.

    Example:
        >>> above("gain", (0.2, (0.1, 0.3))).expected
        'above 0'
    """
    value, interval = found
    return Check(
        quantity=quantity,
        expected=expected or f"above {bound:g}",
        value=value,
        interval=interval,
        least=bound,
    )


def below(
    quantity: str, found: Estimate, bound: float = 0.0, *, expected: str = ""
) -> Check:
    """Return a check that a number is below a bound, see :func:`above`."""
    value, interval = found
    return Check(
        quantity=quantity,
        expected=expected or f"below {bound:g}",
        value=value,
        interval=interval,
        most=bound,
    )


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Result of measuring a claim.

    Args:
        checks: Numbers that decide whether the claim holds.
        figure: Figure of the result. Default: a figure of the checks.
        n_seeds: Number of seeds; 0 for that of the studies.
        remark: Differences from the source, in a sentence or two.
    """

    checks: Sequence[Check]
    figure: "Figure | None" = None
    n_seeds: int = 0
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        """Verdict of the claim: the worst of its checks."""
        verdicts = {check.verdict for check in self.checks}
        return next(verdict for verdict in VERDICTS if verdict in verdicts)
