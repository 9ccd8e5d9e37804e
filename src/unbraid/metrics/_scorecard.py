"""Scores of one representation side by side, to read, to plot or to keep."""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from unbraid.foundation import atomic_write, expand_user

from ._score import Score


@dataclass(frozen=True, eq=False)
class Scorecard(Mapping[str, Score]):
    """Every score of a representation, by name; a mapping that prints as a table.

    Attributes:
        scores: The scores, in the order in which they were asked for.
        failures: For metrics that gave no score, the reason, by name.
        n_rows: Rows that were scored.
        n_traversal_rows: Rows of a separate sample of traversals, on which the metrics
            along traversals were computed; 0 if there was none.
        n_latents: Columns of the codes.
        factor_names: The factors, empty if there were none.
        seed: Seed of the evaluation.
    """

    scores: tuple[Score, ...]
    failures: Mapping[str, str] = field(default_factory=dict)
    n_rows: int = 0
    n_traversal_rows: int = 0
    n_latents: int = 0
    factor_names: tuple[str, ...] = ()
    seed: int = 0

    def __getitem__(self, name: str) -> Score:
        for score in self.scores:
            if score.name == name:
                return score
        reason = self.failures.get(name)
        known = ", ".join(self)
        raise KeyError(
            f"{name} has no score: {reason}"
            if reason
            else f"expected one of {known}, got {name!r}"
        )

    def __iter__(self) -> Iterator[str]:
        return (score.name for score in self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def to_frame(self) -> pd.DataFrame:
        """One row per score: value, interval, chance, ideal, variant, seconds, ...

        The column ``factors`` says how many of the factors are behind the value, such
        as ``"1 of 4"``; it is empty for scores that need no factors.

        A metric without a score has its row too, with no value and the reason as note.
        """
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
                }
            )
        rows += [{"score": name, "note": why} for name, why in self.failures.items()]
        columns = ["score", "variant", "value", "low", "high", "chance", "ideal"]
        frame = pd.DataFrame(rows, columns=[*columns, "factors", "seconds", "note"])
        return frame.fillna({"factors": ""})

    def to_json(self, path: str | Path | None = None) -> str:
        """Everything as JSON text; also written to a file if a path is given.

        Numbers that JSON cannot say (infinite, or not a number) are ``null``.
        """
        content = {
            "n_rows": self.n_rows,
            "n_traversal_rows": self.n_traversal_rows,
            "n_latents": self.n_latents,
            "factor_names": list(self.factor_names),
            "seed": self.seed,
            "scores": {score.name: _plain(_facts(score)) for score in self.scores},
            "failures": dict(self.failures),
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

    def __str__(self) -> str:
        """The table, as plain text."""
        width = max([27, *(len(score.name) for score in self.scores)]) + 1
        lines = [
            self.headline,
            f"{'score':<{width}}{'value':>9}"
            f"  {'interval':<17}{'chance':>8}{'ideal':>8}  {'factors':<9}".rstrip(),
        ]
        for score in self.scores:
            interval = "{:.3f} - {:.3f}".format(*score.interval or (0, 0))
            remarks = ", ".join(filter(None, (score.variant, score.note)))
            line = (
                f"{score.name:<{width}}{score:>9.4f}  "
                f"{interval if score.interval else '':<17}"
                f"{_number(score.chance):>8}{_number(score.ideal):>8}  "
                f"{score.factors_text:<9}{remarks}"
            )
            lines.append(line.rstrip())
        lines += [f"{name}: no score. {why}" for name, why in self.failures.items()]
        return "\n".join(lines)

    __repr__ = __str__


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
