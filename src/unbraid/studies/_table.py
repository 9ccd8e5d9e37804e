"""One row per run: every setting and every score."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unbraid.foundation import atomic_write, import_extra, omitted_defaults
from unbraid.models.objectives import OBJECTIVES
from unbraid.training.loggers import flat_settings

from ._records import RunRecord, read_records
from ._store import StudyFolder, StudyPath

if TYPE_CHECKING:
    import pandas as pd

PARTIAL_SCORES = "partial_scores"
"""Column of the scores that do not count all factors."""

_FIRST = ("id", "status", "error", "warnings")
"""Columns with which every table begins, of this version and of earlier ones."""


_CURVES = ("best.", "best_step.", "decay.")
"""Beginnings of the columns of scores during training."""


def study_table(out: StudyPath, *, details: bool = False) -> "pd.DataFrame":
    """Return the runs of a study as a table, in the order of its file.

    Args:
        out: Folder of the study, or its path.
        details: Add columns with the parts of each score: ``per_factor.mig.shape`` for
            its contribution of a factor, and ``detail.downstream_accuracy.accuracy_10``
            for other numbers. Runs of earlier versions have those of factors only.

    Returns:
        One row per run. Columns: ``id``; ``status``, which is ``done``, ``failed``,
        ``running``, ``begun`` or ``waiting``; ``error``; settings by their path, such
        as ``data``, ``objective.name``, ``objective.beta``, ``training.steps`` and
        ``seed``; ``score.`` and the name of each score; ``partial_scores``, the scores
        that leave out some of the factors, such as ``linearity 1 of 4``; ``final.`` and
        the fit of the trained model: ``final.reconstruction``, ``final.kl``,
        ``final.elbo`` (nats per image) and ``final.active_latents``; if runs are scored
        during training, ``best.``, ``best_step.`` and ``decay.`` and the name of each
        score: its best value, the first step with it, and how much worse the last value
        is; ``warnings``.
        Values that a run does not have are missing.
    """
    return make_table(read_records(StudyFolder.at(out)), details=details)


def make_table(runs: Sequence[RunRecord], *, details: bool = False) -> "pd.DataFrame":
    """Return one row per run, with the columns of :func:`study_table`."""
    import pandas as pd

    table = pd.DataFrame(_fill_defaults([_row(run, details) for run in runs]))
    first = [*_FIRST, PARTIAL_SCORES]
    prefixes, parts = ("score.", "final.", *_CURVES), ("per_factor.", "detail.")
    settings = [
        name
        for name in table
        if name not in first and not name.startswith((*prefixes, *parts))
    ]
    measured = sorted(
        name
        for name in table
        if name.startswith(prefixes) and not _is_stray(table, name)
    )
    measured += sorted(name for name in table if name.startswith(parts))
    return table.reindex(columns=[*first, *settings, *measured])


def _is_stray(table: "pd.DataFrame", name: str) -> bool:
    """Whether a column is empty because the metric's scores have names of their own."""
    metric, bracket, options = name.partition("[")
    has_parts = any(
        other.startswith(f"{metric}_") and other.endswith(bracket + options)
        for other in table
    )
    return has_parts and bool(table[name].isna().all())


def save_table(table: "pd.DataFrame", path: str | os.PathLike[str]) -> None:
    """Write a table as a ``.csv`` or ``.parquet`` file; equal tables, equal bytes.

    Args:
        table: The table.
        path: File to write.

    Raises:
        MissingExtraError: If it is parquet and pyarrow is not installed.
    """
    path = Path(path)
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            text = table.to_csv(index=False, lineterminator="\n")
            # Bytes of file names that are not UTF-8 become escapes.
            file.write(text.encode(errors="backslashreplace"))
            return
        import_extra("pyarrow", "parquet", feature="parquet files")
        table.to_parquet(file, index=False)


def is_table(content: bytes) -> bool:
    """Whether a file is one that :func:`save_table` wrote."""
    if content.startswith(b"PAR1"):
        return all(name.encode() in content for name in _FIRST)
    return content.startswith(",".join(_FIRST).encode())


def _row(run: RunRecord, details: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": run.id, "status": run.state, "error": run.error}
    row |= {"warnings": "", PARTIAL_SCORES: ""}
    row |= flat_settings(_without_empty(run.cell.spec.to_plain()))
    row |= _measured(run.scores) if run.scores else {}
    for name, curve in run.score_curves.items():
        values = (curve.best, curve.best_step, curve.decay)
        row |= {
            f"{prefix}{name}": value
            for prefix, value in zip(_CURVES, values, strict=True)
        }
    return row | (_parts(run.scores["scores"]) if run.scores and details else {})


def _fill_defaults(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add defaults that files leave out, in columns that another run has."""
    columns = set().union(*rows)
    for row in rows:
        kind = OBJECTIVES.built_in.get(row.get("objective.name", ""))
        defaults = {} if kind is None else omitted_defaults(kind)
        for name, default in defaults.items():
            if f"objective.{name}" in columns and default is not None:
                row.setdefault(f"objective.{name}", default)
    return rows


def _measured(found: Mapping[str, Any]) -> dict[str, Any]:
    # A metric that was refused has a column too, so that nothing asked for is missing.
    scores = {f"score.{name}": math.nan for name in found.get("failures", ())}
    scores |= {f"score.{name}": part["value"] for name, part in found["scores"].items()}
    fit = {f"final.{name}": value for name, value in found["fit"].items()}
    return {
        "warnings": " ".join(found["warnings"]),
        PARTIAL_SCORES: _partial(found["scores"]),
        **scores,
        **fit,
    }


def _parts(scores: Mapping[str, Any]) -> dict[str, Any]:
    """Contributions of factors, and other numbers that belong to the scores."""
    return {
        f"{prefix}.{score}.{name}": value
        for score, facts in scores.items()
        for prefix, key in (("per_factor", "per_factor"), ("detail", "details"))
        for name, value in facts.get(key, {}).items()
    }


def _partial(scores: Mapping[str, Any]) -> str:
    """Scores that leave out some factors, each with the number that it uses."""
    used = {name: part.get("factors_used") for name, part in scores.items()}
    return ", ".join(
        f"{name} {pair[0]} of {pair[1]}"
        for name, pair in used.items()
        if pair and pair[0] < pair[1]
    )


def _without_empty(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out empty settings, and write lists as text, which a table can hold."""
    row = {}
    for name, value in plain.items():
        if isinstance(value, Mapping):
            value = _without_empty(value)
        elif isinstance(value, list):
            value = " ".join(map(str, value))
        if value is not None and value != {}:
            row[name] = value
    return row
