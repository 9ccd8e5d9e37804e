"""What a reproduction measured, against what was claimed, and the verdict."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["holds", "does not hold", "cannot be told"]
Interval = tuple[float, float]
Estimate = tuple[float, Interval | None]
"""A number and its interval at 95 %; ``None`` for a number without chance in it."""

VERDICTS: tuple[Verdict, ...] = ("does not hold", "cannot be told", "holds")
"""In the order in which they are shown."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One number that a claim stands or falls with.

    Args:
        quantity: What is measured, in words.
        expected: What the source says, in words.
        value: What was measured.
        interval: In which it lies at 95 %; ``None`` for a number without chance in it.
        least: The claim needs at least this.
        most: The claim needs at most this.

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
                f"Check: expected a least below a most, at least one of them finite, "
                f"got {self.least} and {self.most}."
            )

    @property
    def verdict(self) -> Verdict:
        """Whether the whole interval is where the claim needs it, or none of it."""
        low, high = self.interval or (self.value, self.value)
        if not (math.isfinite(low) and math.isfinite(high)):
            return "cannot be told"
        # No difference at all in every repetition is not yet one above zero.
        is_inside = self.least < low and high < self.most
        if is_inside or (self.interval is None and self.least <= low <= self.most):
            return "holds"
        if high < self.least or low > self.most:
            return "does not hold"
        return "cannot be told"


def above(
    quantity: str, found: Estimate, bound: float = 0.0, *, expected: str = ""
) -> Check:
    """A check that a number is above a bound; ``expected`` says so unless given.

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
    """A check that a number is below a bound; ``expected`` says so unless given."""
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
    """What a claim's file makes of the evidence.

    Args:
        checks: Numbers that the claim stands or falls with.
        figure: What a reader should see; the checks themselves when not given.
        n_seeds: Repetitions behind the numbers; 0 lets the studies tell.
        remark: What differs from the source, in a sentence or two.
    """

    checks: Sequence[Check]
    figure: "Figure | None" = None
    n_seeds: int = 0
    remark: str = ""

    @property
    def verdict(self) -> Verdict:
        """Of the whole claim: the worst of its checks."""
        found = {check.verdict for check in self.checks}
        return next(verdict for verdict in VERDICTS if verdict in found)
