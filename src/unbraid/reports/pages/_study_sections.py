"""Sections of a page about many runs: settings, notices and results."""

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
from unbraid.studies import RunRecord, RunSpec
from unbraid.studies.analysis import setting_name, strengths

from ._comparison_section import main_score
from ._page import Notice, Section, Table
from ._scores_table import number

_MOST_CASES = 12


def run_notices(runs: Sequence[RunRecord], table: pd.DataFrame) -> tuple[Notice, ...]:
    """Return notices about failures, warnings and unfinished runs.

    Args:
        runs: Runs of the study.
        table: Table of runs, one row per run.
    """
    return (*problem_notices(runs, table), *progress_notices(table))


def problem_notices(
    runs: Sequence[RunRecord], table: pd.DataFrame
) -> tuple[Notice, ...]:
    """Return notices about runs that failed, or that did not learn anything."""
    notices = []
    errors = [
        (error or "no reason was recorded") if status == "failed" else ""
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
                title=f"{_count(states['failed'], n_runs)} failed.",
                items=_group(texts(table, "id"), errors),
            )
        )
    warned = [
        _describe_warnings(run, names)
        for run, names in zip(runs, texts(table, "warnings"), strict=True)
    ]
    if any(warned):
        n_warned = n_runs - warned.count("")
        notices.append(
            Notice(
                level="problem",
                title=f"{_count(n_warned, n_runs)} ended with a warning.",
                items=_group(texts(table, "id"), warned),
            )
        )
    n_inactive = _count_inactive(table)
    if n_inactive:
        notices.append(
            Notice(
                level="problem",
                title=f"{_count(n_inactive, n_runs)} learned nothing: no latent is "
                "active.",
            )
        )
    return tuple(notices)


def progress_notices(table: pd.DataFrame) -> tuple[Notice, ...]:
    """Return notices about partial scores and unfinished runs."""
    notices, n_runs = [], len(table)
    states = Counter(texts(table, "status"))
    partial = texts(table, "partial_scores")
    if any(partial):
        notices.append(
            Notice(
                level="note",
                title=f"{_count(n_runs - partial.count(''), n_runs)} have scores that "
                "ignore some factors.",
                items=_group(texts(table, "id"), partial),
            )
        )
    left = [(state, states[state]) for state in ("running", "begun", "waiting")]
    if any(count for _, count in left):
        counts = ", ".join(f"{count} {state}" for state, count in left if count)
        notices.append(
            Notice(
                level="note",
                title=f"Not finished: {counts}. This page shows the results so far.",
            )
        )
    return tuple(notices)


def setup_section(
    specs: Sequence[RunSpec], *, paragraphs: tuple[str, ...] = ()
) -> Section:
    """Return the section about the settings of a study.

    Args:
        specs: Settings of the runs.
        paragraphs: Text at the start of the section.
    """
    first = specs[0]
    steps = sorted({spec.training.steps for spec in specs})
    latents = sorted({spec.training.n_latents for spec in specs})
    networks = [_describe_network(spec.to_plain()["network"]) for spec in specs]
    rows = [
        ("data", "; ".join(dict.fromkeys(str(spec.data) for spec in specs))),
        ("runs", number(len(specs))),
        ("seeds", number(len({spec.seed for spec in specs}))),
        ("steps per run", _format_range(steps)),
        ("latents", _format_range(latents)),
        ("network", "; ".join(dict.fromkeys(networks))),
        ("scores", ", ".join(_as_list(first.evaluation.metrics))),
    ]
    table = Table(title="Settings", columns=("", ""), rows=(*rows,))
    return Section(title="Setup", paragraphs=paragraphs, blocks=(table,))


def runs_section(table: pd.DataFrame) -> Section:
    """Return the section about the runs of each setting.

    Args:
        table: Table of runs, one row per run.
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
        caption="Means over seeds. ELBO and reconstruction are in nats per image.",
        is_folded=len(rows) > 12,
    )
    return Section(title="Runs", blocks=(settings, _runs_table(table, runs)))


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


def _describe_warnings(run: RunRecord, names: str) -> str:
    """Return the warnings of a run; their names if the messages are missing."""
    if not names:
        return ""
    return " ".join(warning.message for warning in run.warnings) or names


def _group(ids: Sequence[str], texts: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Group equal messages of runs, the most frequent first."""
    counts = Counter(text for text in texts if text)
    items = []
    for text, count in counts.most_common(_MOST_CASES):
        first = ids[texts.index(text)]
        name = f"run {first}" if count == 1 else f"{count} runs ({first}, \u2026)"
        items.append((name, text))
    others = len(counts) - len(items)
    if others > 0:
        items.append(("", f"and {others} other reasons, see the table of runs"))
    return tuple(items)


def _count_inactive(table: pd.DataFrame) -> int:
    """Count finished runs that have no active latent and no warning."""
    is_warned = np.array([bool(names) for names in texts(table, "warnings")])
    is_inactive = numbers(table, "final.active_latents") == 0
    return int((is_inactive & is_done(table) & ~is_warned).sum())


def _count(count: int, n_runs: int) -> str:
    if count == n_runs:
        return "The only run" if n_runs == 1 else f"All {n_runs} runs"
    return f"{count} of {n_runs} runs"


def _mean(runs: pd.DataFrame, column: str) -> float | None:
    values = numbers(runs, column)
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else None


def _format_range(values: list[int]) -> str:
    if len(values) == 1:
        return f"{values[0]:,}"
    return f"{values[0]:,} to {values[-1]:,}"


def _describe_network(plain: Any) -> str:
    if not isinstance(plain, dict):
        return str(plain)
    more = [f"{key} {value}" for key, value in plain.items() if key != "name"]
    return ", ".join([str(plain.get("name", "custom")), *more])


def _as_list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(part) for part in value]
