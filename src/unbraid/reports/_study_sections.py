"""Parts of a page about many runs: what was asked, and what became of it."""

import platform
from collections import Counter
from importlib.metadata import version
from typing import Any

import pandas as pd

from unbraid.studies import StudyFolder
from unbraid.studies._yaml import write_yaml
from unbraid.studies.analysis import strengths
from unbraid.training._run_folder import RunFolder

from ._comparison_section import main_score
from ._model_section import number
from ._page import Notice, Section, Table, Words
from ._ranking_pictures import setting_name

_MOST_CASES = 12


def run_notices(folder: StudyFolder, table: pd.DataFrame) -> tuple[Notice, ...]:
    """Failures, warnings and runs that are not done, in words.

    Args:
        folder: Of the study.
        table: One row per run.
    """
    notices = []
    states = Counter(table["status"])
    n_runs = len(table)
    if states["failed"]:
        notices.append(
            Notice(
                level="problem",
                title=f"{_of(states['failed'], n_runs)} failed.",
                items=_grouped(table[table["status"] == "failed"], "error"),
            )
        )
    warned = table[table["warnings"].fillna("").astype(str) != ""]
    warned = warned.assign(warnings=[_words(folder, run) for run in warned.index])
    if len(warned):
        notices.append(
            Notice(
                level="problem",
                title=f"{_of(len(warned), n_runs)} ended with a warning.",
                items=_grouped(warned, "warnings"),
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


def asked_section(folder: StudyFolder, *, words: tuple[str, ...] = ()) -> Section:
    """What the study was to try.

    Args:
        folder: Of the study.
        words: Paragraphs to begin with.
    """
    specs = [cell.spec for cell in folder.cells]
    first = specs[0]
    steps = sorted({spec.training.steps for spec in specs})
    latents = sorted({spec.training.n_latents for spec in specs})
    network = first.to_plain()["network"]
    rows = [
        ("data", "\n".join(dict.fromkeys(spec.data for spec in specs))),
        ("runs", number(len(specs))),
        ("seeds", number(len({spec.seed for spec in specs}))),
        ("steps of each", _span(steps)),
        ("latents", _span(latents)),
        ("network", _network(network)),
        ("scores", ", ".join(_as_list(first.evaluation.metrics))),
    ]
    table = Table(title="Settings that all runs share", columns=("", ""), rows=(*rows,))
    return Section(title="What was asked", words=words, blocks=(table,))


def trained_section(table: pd.DataFrame) -> Section:
    """What became of each setting.

    Args:
        table: One row per run.
    """
    runs = strengths(table)
    rows = []
    for (method, _), part in runs.groupby(["method", "strength_rank"], sort=False):
        done = part[part["status"] == "done"]
        rows.append(
            (
                setting_name(str(method), part["strength"].iloc[0]),
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


def settings_section(folder: StudyFolder) -> Section:
    """The study in its own words, and what it ran with.

    Args:
        folder: Of the study.
    """
    text = write_yaml(folder.study.to_plain())
    return Section(
        title="Settings and versions",
        blocks=(Words(title="study.yaml", text=text), versions_table(folder)),
    )


def versions_table(folder: StudyFolder) -> Table:
    """Versions of what trained the runs, and of what wrote the page."""
    seen: Counter[tuple[str, str]] = Counter()
    for cell in folder.cells:
        versions = RunFolder(cell.place.path).read_status().get("versions", {})
        seen.update((str(name), str(version)) for name, version in versions.items())
    return versions_of(seen)


def versions_of(seen: Counter[tuple[str, str]]) -> Table:
    """Versions by how many runs they trained, and those of this page."""
    rows = [
        (name, number_of, f"{count} {'run' if count == 1 else 'runs'}")
        for (name, number_of), count in sorted(seen.items())
    ]
    now = {"unbraid": version("unbraid"), "Python": platform.python_version()}
    rows += [(name, number_of, "this page") for name, number_of in now.items()]
    return Table(title="Versions", columns=("of", "version", "where"), rows=(*rows,))


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


def _words(folder: StudyFolder, place: Any) -> str:
    """The warnings of a run in words; their names, if nothing else is left."""
    cell = folder.cells[place]
    found = [warning.message for warning in RunFolder(cell.place.path).read_warnings()]
    return " ".join(found) or str(cell.place.read_scores().get("warnings", ""))


def _grouped(table: pd.DataFrame, column: str) -> tuple[tuple[str, str], ...]:
    """Different texts of a column, the most frequent first, with their runs."""
    texts = table[column].fillna("").astype(str)
    items = []
    for text, count in Counter(texts).most_common(_MOST_CASES):
        ids = [str(name) for name in table["id"][texts == text]]
        name = f"run {ids[0]}" if count == 1 else f"{count} runs ({ids[0]}, \u2026)"
        items.append((name, text or "no reason was kept"))
    others = texts.nunique() - len(items)
    if others > 0:
        items.append(("", f"and {others} other reasons; the table of runs has them"))
    return tuple(items)


def _silent(table: pd.DataFrame) -> int:
    """Finished runs without an active latent that no warning speaks of."""
    if "final.active_latents" not in table:
        return 0
    is_silent = (table["final.active_latents"] == 0) & (table["status"] == "done")
    return int((is_silent & (table["warnings"].fillna("") == "")).sum())


def _of(count: int, n_runs: int) -> str:
    if count == n_runs:
        return "The only run" if n_runs == 1 else f"All {n_runs} runs"
    return f"{count} of {n_runs} runs"


def _mean(runs: pd.DataFrame, column: str) -> float | None:
    if column not in runs or not len(runs):
        return None
    return float(pd.to_numeric(runs[column], errors="coerce").mean())


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
