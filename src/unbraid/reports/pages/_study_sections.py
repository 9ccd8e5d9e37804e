"""Parts of a page about many runs: what was asked, and what became of it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from unbraid.reports.figures._frames import (
    chosen_rows,
    is_done,
    numbers,
    settings_of,
    texts,
)
from unbraid.reports.figures._ranking import setting_name
from unbraid.studies import RunRecord, RunSpec
from unbraid.studies.analysis import strengths

from ._comparison_section import main_score
from ._page import Notice, Section, Table
from ._scores_table import number

_MOST_CASES = 12


def run_notices(runs: Sequence[RunRecord], table: pd.DataFrame) -> tuple[Notice, ...]:
    """Failures, warnings and runs that are not done, in words.

    Args:
        runs: Runs of the study.
        table: One row per run.
    """
    notices = []
    errors = [
        (error or "no reason was kept") if status == "failed" else ""
        for error, status in zip(
            texts(table, "error"), texts(table, "status"), strict=True
        )
    ]
    states = Counter(texts(table, "status"))
    n_runs = len(table)
    if states["failed"]:
        notices.append(
            Notice(
                level="problem",
                title=f"{_of(states['failed'], n_runs)} failed.",
                items=_grouped(texts(table, "id"), errors),
            )
        )
    warned = [
        _words(run, names)
        for run, names in zip(runs, texts(table, "warnings"), strict=True)
    ]
    if any(warned):
        notices.append(
            Notice(
                level="problem",
                title=f"{_of(n_runs - warned.count(''), n_runs)} ended with a warning.",
                items=_grouped(texts(table, "id"), warned),
            )
        )
    partial = texts(table, "partial_scores")
    if any(partial):
        notices.append(
            Notice(
                level="note",
                title=f"{_of(n_runs - partial.count(''), n_runs)} have scores that do "
                "not count all factors.",
                items=_grouped(texts(table, "id"), partial),
            )
        )
    silent = _silent(table)
    if silent:
        notices.append(
            Notice(
                level="problem",
                title=f"{_of(silent, n_runs)} learnt nothing: no latent says anything "
                "about an image.",
            )
        )
    left = [(state, states[state]) for state in ("running", "begun", "waiting")]
    if any(count for _, count in left):
        words = ", ".join(f"{count} {state}" for state, count in left if count)
        notices.append(
            Notice(
                level="note",
                title=f"Not finished: {words}. This page shows what is there so far.",
            )
        )
    return tuple(notices)


def asked_section(specs: Sequence[RunSpec], *, words: tuple[str, ...] = ()) -> Section:
    """What a study was to try.

    Args:
        specs: Its runs.
        words: Paragraphs to begin with.
    """
    first = specs[0]
    steps = sorted({spec.training.steps for spec in specs})
    latents = sorted({spec.training.n_latents for spec in specs})
    networks = [_network(spec.to_plain()["network"]) for spec in specs]
    rows = [
        ("data", "; ".join(dict.fromkeys(str(spec.data) for spec in specs))),
        ("runs", number(len(specs))),
        ("seeds", number(len({spec.seed for spec in specs}))),
        ("steps of each", _span(steps)),
        ("latents", _span(latents)),
        ("network", "; ".join(dict.fromkeys(networks))),
        ("scores", ", ".join(_as_list(first.evaluation.metrics))),
    ]
    table = Table(title="Settings", columns=("", ""), rows=(*rows,))
    return Section(title="What was asked", words=words, blocks=(table,))


def trained_section(table: pd.DataFrame) -> Section:
    """What became of each setting.

    Args:
        table: One row per run.
    """
    runs = strengths(table)
    rows = []
    for method, strength, part in settings_of(runs):
        done = chosen_rows(part, is_done(part))
        rows.append(
            (
                setting_name(method, strength),
                f"{len(done)} of {len(part)}",
                number(_mean(done, "final.elbo"), 1),
                number(_mean(done, "final.reconstruction"), 1),
                number(_mean(done, "final.active_latents"), 1),
            )
        )
    settings = Table(
        title="Settings",
        columns=("setting", "done", "ELBO", "reconstruction", "active latents"),
        rows=tuple(rows),
        words="Means over seeds; ELBO and reconstruction in nats per image.",
        is_folded=len(rows) > 12,
    )
    return Section(
        title="What was trained", blocks=(settings, _runs_table(table, runs))
    )


def _runs_table(table: pd.DataFrame, runs: pd.DataFrame) -> Table:
    score = main_score(table)
    columns = ["run", "setting", "seed", "state"]
    columns += [score.split(".", 1)[-1]] if score else []
    rows = []
    for run in runs.to_dict(orient="records"):
        cells = [
            run["id"],
            setting_name(str(run["method"]), run["strength"]),
            number(run["seed"]),
            run["status"],
        ]
        rows.append((*cells, number(run[score])) if score else tuple(cells))
    return Table(
        title=f"All {len(rows)} runs" if len(rows) > 1 else "The run",
        columns=tuple(columns),
        rows=tuple(rows),
        data=table,
        file="runs.csv",
        is_folded=len(rows) > 12,
    )


def _words(run: RunRecord, names: str) -> str:
    """The warnings of a run in words; their names, if nothing else is left."""
    if not names:
        return ""
    return " ".join(warning.message for warning in run.warnings) or names


def _grouped(ids: Sequence[str], words: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Different words of runs, the most frequent first, with who they are about."""
    counts = Counter(text for text in words if text)
    items = []
    for text, count in counts.most_common(_MOST_CASES):
        first = ids[words.index(text)]
        name = f"run {first}" if count == 1 else f"{count} runs ({first}, \u2026)"
        items.append((name, text))
    others = len(counts) - len(items)
    if others > 0:
        items.append(("", f"and {others} other reasons; the table of runs has them"))
    return tuple(items)


def _silent(table: pd.DataFrame) -> int:
    """Finished runs without an active latent that no warning speaks of."""
    is_warned = np.array([bool(names) for names in texts(table, "warnings")])
    is_silent = numbers(table, "final.active_latents") == 0
    return int((is_silent & is_done(table) & ~is_warned).sum())


def _of(count: int, n_runs: int) -> str:
    if count == n_runs:
        return "The only run" if n_runs == 1 else f"All {n_runs} runs"
    return f"{count} of {n_runs} runs"


def _mean(runs: pd.DataFrame, column: str) -> float | None:
    values = numbers(runs, column)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _span(values: list[int]) -> str:
    if len(values) == 1:
        return f"{values[0]:,}"
    return f"{values[0]:,} to {values[-1]:,}"


def _network(plain: Any) -> str:
    if not isinstance(plain, dict):
        return str(plain)
    more = [f"{key} {value}" for key, value in plain.items() if key != "name"]
    return ", ".join([str(plain.get("name", "own")), *more])


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(part) for part in value]
