"""Comparison: scores of several representations, and their differences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.foundation import atomic_write, expand_user, html_table

from ._plots import Dot, Row, draw_comparison
from ._scorecard import Scorecard

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Difference:
    """The difference of one score between two representations.

    Attributes:
        score: Name of the score.
        name: Representation that is compared.
        baseline: Representation that it is compared with.
        value: Score of ``name`` minus that of ``baseline``.
        interval: 95 % interval of the difference, ``None`` if it was not estimated.
        higher_is_better: Direction of the score.
    """

    score: str
    name: str
    baseline: str
    value: float
    interval: tuple[float, float] | None
    higher_is_better: bool

    @property
    def better(self) -> str:
        """The better representation if the interval excludes zero, else empty."""
        if self.interval is None or self.interval[0] <= 0.0 <= self.interval[1]:
            return ""
        return self.name if (self.value > 0) == self.higher_is_better else self.baseline


@dataclass(frozen=True, eq=False)
class Comparison:
    """Result of :func:`unbraid.compare`: scorecards and paired differences.

    Attributes:
        cards: The scorecard of each representation, the baseline first.
        differences: Differences from the baseline.
    """

    cards: Mapping[str, Scorecard]
    differences: tuple[Difference, ...]

    @property
    def baseline(self) -> str:
        """The first representation, which the others are compared with."""
        return next(iter(self.cards))

    def __getitem__(self, name: str) -> Scorecard:
        return self.cards[name]

    def difference(self, score: str, name: str | None = None) -> Difference:
        """Return the difference of one score.

        Args:
            score: Name of the score.
            name: Representation to compare with the baseline; may be left out if
                there are two.
        """
        for each in self.differences:
            if each.score == score and name in (None, each.name):
                return each
        raise KeyError(f"There is no difference of {score!r} for {name or 'any'!r}.")

    def to_frame(self) -> pd.DataFrame:
        """Return a table with one row per score.

        There is a column per representation, followed by the differences.

        For each representation but the baseline, the columns ``"B - A"``, ``"B - A
        low"``, ``"B - A high"`` have the difference and its interval, and ``"better (A,
        B)"`` the one that is better, empty if the interval includes zero.
        """
        import pandas as pd  # slow to import, and needed here only

        table: list[dict[str, Any]] = []
        for score in self._score_names():
            row: dict[str, Any] = {"score": score}
            for name, card in self.cards.items():
                row[name] = float(card[score]) if score in list(card) else float("nan")
            for each in self._differences_of(score):
                what = f"{each.name} - {each.baseline}"
                low, high = each.interval or (float("nan"), float("nan"))
                row |= {what: each.value, f"{what} low": low, f"{what} high": high}
                row[f"better ({each.baseline}, {each.name})"] = each.better
            table.append(row)
        return pd.DataFrame(table)

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON text, and write it to a file if a path is given."""
        content = {
            "baseline": self.baseline,
            "cards": {name: json.loads(c.to_json()) for name, c in self.cards.items()},
            "differences": [
                {**vars(each), "better": each.better} for each in self.differences
            ],
        }
        text = json.dumps(content, indent=2, allow_nan=False)
        if path is not None:
            with atomic_write(expand_user(path)) as file:
                file.write(f"{text}\n".encode(errors="backslashreplace"))
        return text

    def plot(self) -> Figure:
        """Draw the scores, and next to them the differences with their intervals."""
        rows = []
        for score in self._score_names():
            dots = {
                name: Dot(float(card[score]))
                for name, card in self.cards.items()
                if score in list(card)
            }
            differences = {
                each.name: Dot(each.value, each.interval)
                for each in self._differences_of(score)
            }
            rows.append(Row(score, dots, differences=differences))
        return draw_comparison(rows, list(self.cards))

    @property
    def headline(self) -> str:
        """Size of the comparison in one line."""
        card = self.cards[self.baseline]
        names = ", ".join(self.cards)
        return (
            f"{names} on {card.n_rows:,} rows, {len(card.factor_names)} factors, "
            f"seed {card.seed}"
        )

    @property
    def columns(self) -> list[str]:
        """Headings of the table."""
        others = list(self.cards)[1:]
        heads = [(f"{name} - {self.baseline}", "interval", "better") for name in others]
        return ["score", *self.cards, *(head for three in heads for head in three)]

    def cells(self) -> list[list[str]]:
        """Return the table as text, a row per score."""
        table = []
        for score in self._score_names():
            row = [score]
            for card in self.cards.values():
                row.append(f"{card[score]:.4f}" if score in list(card) else "-")
            own = {each.name: each for each in self._differences_of(score)}
            for name in list(self.cards)[1:]:
                row += _difference_cells(own.get(name))
            table.append(row)
        return table

    @property
    def notes(self) -> list[str]:
        """Lines below the table: what is missing, and why."""
        return [
            f"{name}: {note}" if not note.startswith("No interval") else note
            for name, card in self.cards.items()
            for note in card.notes
            if not note.startswith("No interval") or name == self.baseline
        ]

    def __str__(self) -> str:
        """Return the table as plain text."""
        lines = [self.columns, *self.cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        table = [
            "  ".join(
                cell.ljust(width) if i == 0 else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([self.headline, *table, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        return html_table(
            self.columns, self.cells(), title=self.headline, notes=self.notes
        )

    def _score_names(self) -> list[str]:
        return list(dict.fromkeys(s for card in self.cards.values() for s in card))

    def _differences_of(self, score: str) -> list[Difference]:
        return [each for each in self.differences if each.score == score]


def _difference_cells(difference: Difference | None) -> list[str]:
    if difference is None:
        return ["-", "-", ""]
    interval = "-"
    if difference.interval is not None:
        interval = "{:+.3f} to {:+.3f}".format(*difference.interval)
    return [f"{difference.value:+.4f}", interval, difference.better]
