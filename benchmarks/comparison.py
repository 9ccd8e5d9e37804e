"""One record for every side-by-side comparison, so that all are told in the same way.

A script makes a ``Comparison`` for each line of its table and hands them to ``tell``,
which prints them and, with ``--json FILE``, appends each as a line of JSON for the page
that ``all.py`` writes.
"""

import argparse
import dataclasses
import json
import statistics
from collections.abc import Sequence
from pathlib import Path


@dataclasses.dataclass(frozen=True, kw_only=True)
class Comparison:
    """The same work done by a peer and by unbraid, measured in turn.

    Args:
        what: The work.
        unit: What was counted. More is better where it ends in "per second", less is
            better otherwise.
        peer: Who unbraid is compared with, and its version; "limit" where there is no
            peer and ``theirs`` is what was asked for.
        theirs: The peer's numbers, one a round, or a single one for all rounds.
        ours: The numbers of unbraid, one a round.
        note: What a reader must know of this line alone.

    Example:
        >>> line = Comparison(
        ...     what="x", unit="seconds", peer="slow 1.0", theirs=(6, 8), ours=(2, 2)
        ... )
        >>> line.ratio, line.ratios
        (3.5, [3.0, 4.0])
    """

    what: str
    unit: str
    peer: str
    theirs: Sequence[float]
    ours: Sequence[float]
    note: str = ""

    def __post_init__(self) -> None:
        if not self.ours or len(self.theirs) not in (1, len(self.ours)):
            raise ValueError(
                f"Comparison: expected one number of the peer or as many as ours, got "
                f"{len(self.theirs)} and {len(self.ours)} for {self.what!r}. Measure "
                "both sides once a round."
            )
        if not all(number > 0 for number in (*self.theirs, *self.ours)):
            raise ValueError(
                f"Comparison: expected numbers above 0, got {self.theirs} and "
                f"{self.ours} for {self.what!r}. Check what was measured."
            )

    @property
    def ratios(self) -> list[float]:
        """How many times as good as the peer, per round."""
        theirs = list(self.theirs) * (len(self.ours) // len(self.theirs))
        pairs = list(zip(theirs, self.ours, strict=True))
        if self.unit.endswith("per second"):
            return [b / a for a, b in pairs]
        return [a / b for a, b in pairs]

    @property
    def ratio(self) -> float:
        """The median of the ratios."""
        return statistics.median(self.ratios)

    def cells(self) -> tuple[str, ...]:
        """The line as text: work, unit, peer, theirs, ours, ratio, range, rounds."""
        low, high = min(self.ratios), max(self.ratios)
        return (
            self.what,
            self.unit,
            self.peer,
            number(statistics.median(self.theirs)),
            number(statistics.median(self.ours)),
            number(self.ratio),
            f"{number(low)} - {number(high)}" if len(self.ours) > 1 else "",
            str(len(self.ours)),
        )


HEAD = ("comparison", "unit", "peer", "theirs", "ours", "ratio", "range", "rounds")


def number(value: float) -> str:
    """A number with three digits, and all digits of its whole part."""
    if value >= 100:
        return f"{value:,.0f}"
    digits = 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:.{digits}f}"


def add_option(parser: argparse.ArgumentParser) -> None:
    """Let a script take ``--json FILE``."""
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="append the comparisons as JSON"
    )


def tell(comparisons: Sequence[Comparison], file: Path | None) -> None:
    """Print comparisons as a table, and append them to a file if there is one."""
    rows = [HEAD, *(comparison.cells() for comparison in comparisons)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        texts = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        print("  ".join(texts).rstrip())
    if file is None:
        return
    with file.open("a") as lines:
        for comparison in comparisons:
            lines.write(json.dumps(dataclasses.asdict(comparison)) + "\n")


def told(file: Path) -> list[Comparison]:
    """Comparisons that ``tell`` has appended to a file."""
    return [Comparison(**json.loads(line)) for line in file.read_text().splitlines()]
