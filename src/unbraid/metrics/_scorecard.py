"""Scorecard: all scores of a representation."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from unbraid.data import Kind
from unbraid.foundation import atomic_write, expand_user, html_table

from ._plots import Dot, Row, draw_scores
from ._score import Score

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class Scorecard(Mapping[str, Score]):
    """Every score of a representation, by name; a mapping that prints as a table.

    The name of a metric with several scores gives a card of these:
    ``card["dci"]["dci_completeness"]`` is ``card["dci_completeness"]``.

    Attributes:
        scores: Scores, in the requested order.
        failures: Reasons why metrics have no score, by name of the metric.
        skipped: Reasons why metrics did not fit into the budget, by name.
        without_interval: Reasons why metrics have no interval, by name.
        groups: Names of the scores of each metric that has several.
        n_rows: Number of rows that were scored.
        n_traversal_rows: Rows of a separate sample of traversals, on which the metrics
            along traversals were computed; 0 if there was none.
        n_latents: Number of latents.
        factor_names: Names of the factors, empty if there were none.
        factor_kinds: Kinds of the factors.
        seed: Seed of the evaluation.
    """

    scores: tuple[Score, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    without_interval: Mapping[str, str] = field(default_factory=dict)
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    n_rows: int = 0
    n_traversal_rows: int = 0
    n_latents: int = 0
    factor_names: tuple[str, ...] = ()
    factor_kinds: tuple[Kind, ...] = ()
    seed: int = 0

    def __getitem__(self, name: str) -> Any:
        for score in self.scores:
            if score.name == name:
                return score
        if name in self.groups:
            return self._group(name)
        reason = self.failures.get(name) or self.skipped.get(name)
        known = ", ".join(self)
        raise KeyError(
            f"{name} has no score: {reason}"
            if reason
            else f"There is no score {name!r}. The scores are {known}."
        )

    def _group(self, name: str) -> Scorecard:
        """Return the scorecard of one metric."""
        why = self.without_interval
        return replace(
            self,
            scores=tuple(self[each] for each in self.groups[name]),
            failures={},
            skipped={},
            without_interval={name: why[name]} if name in why else {},
            groups={},
        )

    def __iter__(self) -> Iterator[str]:
        return (score.name for score in self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self, *, details: bool = False) -> pd.DataFrame:
        """Return a table with one row per score.

        The column ``factors`` says how many of the factors are behind the value, such
        as ``"1 of 4"``; it is empty for scores that need no factors.

        A metric without a score has its row too, with no value and the reason as note.
        Scores without an interval have no ``low`` and ``high``; ``without_interval``
        says why.

        Args:
            details: Add a column ``per_factor.<factor>`` for the contribution of each
                factor, and ``detail.<name>`` for each other number of a score.
        """
        import pandas as pd  # slow to import, and needed here only

        rows = []
        for score in self.scores:
            low, high = score.interval or (math.nan, math.nan)
            rows.append(
                {
                    "score": score.name,
                    "variant": score.variant,
                    "value": float(score),
                    "low": low,
                    "high": high,
                    "chance": math.nan if score.chance is None else score.chance,
                    "ideal": math.nan if score.ideal is None else score.ideal,
                    "factors": score.factors_text,
                    "seconds": math.nan if score.seconds is None else score.seconds,
                    "note": score.note,
                    **(_parts(score) if details else {}),
                }
            )
        missing = {**self.failures, **self.skipped}
        rows += [{"score": name, "note": why} for name, why in missing.items()]
        columns = ["score", "variant", "value", "low", "high", "chance", "ideal"]
        columns += ["factors", "seconds", "note"]
        columns += dict.fromkeys(key for row in rows for key in row if "." in key)
        frame = pd.DataFrame(rows, columns=columns)
        return frame.fillna({"factors": ""})

    def to_json(self, path: str | Path | None = None) -> str:
        """Return everything as JSON text, and write it to a file if a path is given.

        Infinite numbers and NaN become ``null``.
        """
        content = {
            "n_rows": self.n_rows,
            "n_traversal_rows": self.n_traversal_rows,
            "n_latents": self.n_latents,
            "factor_names": list(self.factor_names),
            "factor_kinds": list(self.factor_kinds),
            "seed": self.seed,
            "scores": {score.name: _plain(_facts(score)) for score in self.scores},
            "failures": dict(self.failures),
            "skipped": dict(self.skipped),
            "without_interval": dict(self.without_interval),
        }
        text = json.dumps(content, indent=2, allow_nan=False)
        if path is not None:
            with atomic_write(expand_user(path)) as file:
                file.write(f"{text}\n".encode(errors="backslashreplace"))
        return text

    @property
    def headline(self) -> str:
        """Size of the evaluation in one line."""
        along = ""
        if self.n_traversal_rows:
            along = f" and {self.n_traversal_rows:,} on traversals"
        return (
            f"{self.n_rows:,} rows{along}, {self.n_latents} latents, "
            f"{len(self.factor_names)} factors, seed {self.seed}"
        )

    @property
    def factors_line(self) -> str:
        """Names and kinds of the factors in one line; empty if there are none."""
        pairs = zip(self.factor_names, self.factor_kinds, strict=False)
        text = ", ".join(f"{name} ({kind})" for name, kind in pairs)
        return f"factors: {text}" if text else ""

    @property
    def notes(self) -> list[str]:
        """Lines below the table: what has no score or no interval, and why."""
        lines = [f"{name}: no score. {why}" for name, why in self.failures.items()]
        lines += [f"{name}: skipped. {why}" for name, why in self.skipped.items()]
        reasons = dict.fromkeys(self.without_interval.values())
        for reason in reasons:
            names = [n for n, why in self.without_interval.items() if why == reason]
            listed = "any score" if len(names) > 3 else ", ".join(names)
            if len(names) > 3 and len(reasons) > 1:
                listed = f"{', '.join(names[:3])} and {len(names) - 3} more"
            lines.append(f"No interval of {listed}: {reason}.")
        return lines

    def plot(self) -> Figure:
        """Draw every score with its interval, chance and ideal level."""
        rows = []
        for score in self.scores:
            levels = {"chance": score.chance, "ideal": score.ideal}
            known = {name: level for name, level in levels.items() if level is not None}
            rows.append(Row(score.name, {"": Dot(float(score), score.interval)}, known))
        return draw_scores(rows, title=self.headline)

    def _cells(self) -> list[tuple[str, ...]]:
        """Return name, value, interval, chance, ideal, factors and remarks as text."""
        return [
            (
                score.name,
                f"{score:.4f}",
                "{:.3f} - {:.3f}".format(*score.interval) if score.interval else "-",
                _number(score.chance),
                _number(score.ideal),
                score.factors_text,
                ", ".join(filter(None, (score.variant, score.note))),
            )
            for score in self.scores
        ]

    def __str__(self) -> str:
        """Return the table as plain text."""
        width = max([27, *(len(score.name) for score in self.scores)]) + 1
        lines = [
            *filter(None, (self.headline, self.factors_line)),
            f"{'score':<{width}}{'value':>9}"
            f"  {'interval':<17}{'chance':>8}{'ideal':>8}  {'factors':<9}".rstrip(),
        ]
        for name, value, interval, chance, ideal, factors, remarks in self._cells():
            line = (
                f"{name:<{width}}{value:>9}  {interval:<17}{chance:>8}{ideal:>8}  "
                f"{factors:<9}{remarks}"
            )
            lines.append(line.rstrip())
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the table as HTML, for notebooks."""
        columns = (
            "score",
            "value",
            "interval",
            "chance",
            "ideal",
            "factors",
            "remarks",
        )
        notes = filter(None, (self.factors_line, *self.notes))
        return html_table(columns, self._cells(), title=self.headline, notes=notes)


def _parts(score: Score) -> dict[str, float]:
    parts = {f"per_factor.{name}": value for name, value in score.per_factor.items()}
    return parts | {f"detail.{name}": value for name, value in score.details.items()}


def _facts(score: Score) -> dict[str, Any]:
    return {"value": float(score), **vars(score)}


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
