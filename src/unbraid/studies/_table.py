"""One row per run: every setting and every score."""

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from unbraid.foundation import atomic_write, import_extra
from unbraid.training.loggers import flat_settings

from ._records import RunRecord, read_records
from ._store import StudyFolder, StudyPath

PARTIAL_SCORES = "partial_scores"
"""Column of the scores that do not count all factors."""

_FIRST = ("id", "status", "error", "warnings")
"""Columns with which every table begins, of this version and of earlier ones."""


def study_table(out: StudyPath) -> pd.DataFrame:
    """Return the runs of a study as a table, in the order of its file.

    Args:
        out: Folder of the study, or its path.

    Returns:
        One row per run. Columns: ``id``; ``status``, which is ``done``, ``failed``,
        ``running``, ``begun`` or ``waiting``; ``error``; settings by their path, such
        as ``data``, ``objective.name``, ``objective.beta``, ``training.steps`` and
        ``seed``; ``score.`` and the name of each score; ``partial_scores``, the scores
        that leave out some of the factors, such as ``linearity 1 of 4``; ``final.`` and
        the fit of the trained model: ``final.reconstruction``, ``final.kl``,
        ``final.elbo`` (nats per image) and ``final.active_latents``; ``warnings``.
        Values that a run does not have are missing.
    """
    return make_table(read_records(StudyFolder.at(out)))


def make_table(runs: Sequence[RunRecord]) -> pd.DataFrame:
    """Return one row per run, with the columns of :func:`study_table`."""
    table = pd.DataFrame([_row(run) for run in runs])
    first = [*_FIRST, PARTIAL_SCORES]
    prefixes = ("score.", "final.")
    settings = [
        name for name in table if name not in first and not name.startswith(prefixes)
    ]
    measured = sorted(
        name
        for name in table
        if name.startswith(prefixes) and not _is_stray(table, name)
    )
    return table.reindex(columns=[*first, *settings, *measured])


def _is_stray(table: pd.DataFrame, name: str) -> bool:
    """Whether a column is empty because the metric's scores have names of their own."""
    has_parts = any(other.startswith(f"{name}_") for other in table)
    return has_parts and bool(table[name].isna().all())


def save_table(table: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table as a ``.csv`` or ``.parquet`` file; equal tables, equal bytes.

    Args:
        table: The table.
        path: File to write.

    Raises:
        ImportError: If it is parquet and pyarrow is not installed.
    """
    path = Path(path)
    with atomic_write(path) as file:
        if path.suffix == ".csv":
            text = table.to_csv(index=False, lineterminator="\n")
            # Bytes of file names that are not UTF-8 become escapes.
            file.write(text.encode(errors="backslashreplace"))
            return
        import_extra("pyarrow", "parquet")
        table.to_parquet(file, index=False)


def is_table(content: bytes) -> bool:
    """Whether a file is one that :func:`save_table` wrote."""
    if content.startswith(b"PAR1"):
        return all(name.encode() in content for name in _FIRST)
    return content.startswith(",".join(_FIRST).encode())


def _row(run: RunRecord) -> dict[str, Any]:
    row: dict[str, Any] = {"id": run.id, "status": run.state, "error": run.error}
    row |= {"warnings": "", PARTIAL_SCORES: ""}
    row |= flat_settings(_without_empty(run.cell.spec.to_plain()))
    return row | (_measured(run.scores) if run.scores else {})


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
