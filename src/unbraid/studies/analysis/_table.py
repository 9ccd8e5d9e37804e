"""The table of a study: one row per run, and what its columns mean."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

PUBLISHED_METRICS = (
    "beta_vae_score",
    "factor_vae_score",
    "mig",
    "dci_disentanglement",
    "modularity",
    "sap",
)
"""The metrics of the large study (Locatello et al. 2019, section 4)."""

DISENTANGLEMENT_METRICS = (
    *PUBLISHED_METRICS,
    "dci_completeness",
    "dci_informativeness",
    "explicitness",
    "irs",
    "mig_sup",
    "jemmig",
    "dcimig",
    "infom",
    "infoc",
    "infoe",
    "dci_es_explicitness",
    "dci_es_size",
    "distance_correlation",
    "latent_data_correlation",
    "linearity",
    "axis_orientation",
    "axis_alignment",
    "equivariance",
    "block_diagonality",
    "analogies",
)
"""Scores that need the factors; higher is better in all of them."""

DOWNSTREAM_SCORES = ("downstream_accuracy", "statistical_efficiency")
"""Scores of predictors that learn the factors from the codes."""

UNSUPERVISED_SCORES = (
    "elbo",
    "reconstruction",
    "kl",
    "gaussian_total_correlation",
    "sampled_gaussian_total_correlation",
    "gaussian_wasserstein",
    "sampled_gaussian_wasserstein",
    "pairwise_information",
    "active_latents",
)
"""Scores that need no factors."""

_PREFIXES = ("", "score.", "final.")


def require_columns(caller: str, table: pd.DataFrame, columns: Iterable[str]) -> None:
    """Raise an error if the table lacks a column."""
    if not isinstance(table, pd.DataFrame):
        raise TypeError(
            f"{caller} needs a pandas table with one row per run, got "
            f"{type(table).__name__}."
        )
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise ValueError(
            f"{caller}: the table has no column {missing[0]!r}. Use the table of a "
            "study."
        )


def find_scores(
    caller: str,
    table: pd.DataFrame,
    wanted: str | Sequence[str] | None,
    known: Sequence[str],
) -> dict[str, str]:
    """Return the columns of scores by their short names.

    Args:
        caller: Name of the calling function, for error messages.
        table: One row per run.
        wanted: Names such as ``"mig"`` or ``"final.elbo"``; ``None`` for all known ones
            that the table has.
        known: Short names to look for if none is wanted.
    """
    require_columns(caller, table, ())
    names = [wanted] if isinstance(wanted, str) else wanted
    found = {}
    for name in known if names is None else names:
        columns = [prefix + name for prefix in _PREFIXES]
        column = next((column for column in columns if column in table.columns), None)
        if column is not None:
            found[name.removeprefix("score.")] = column
        elif names is not None:
            raise ValueError(
                f"{caller}: the table has no column 'score.{name}'."
                f"{_nearest(name, table)}"
            )
    if not found:
        raise ValueError(
            f"{caller}: the table has none of the scores "
            f"{', '.join(known if names is None else names) or 'asked for'}."
        )
    return found


def done_runs(
    table: pd.DataFrame, scores: dict[str, str]
) -> tuple[pd.DataFrame, dict[str, NDArray[np.float64]]]:
    """Runs that are done and have at least one of the scores.

    Args:
        table: One row per run. Without a column ``status`` all are done.
        scores: Columns by short name.

    Returns:
        These rows of the table, and their scores by short name, ``(n_runs,)`` each, NaN
        where a run has none.
    """
    values = {
        name: np.array(pd.to_numeric(table[column], errors="coerce"), dtype=np.float64)
        for name, column in scores.items()
    }
    is_kept = ~np.isnan(list(values.values())).all(axis=0)
    if "status" in table.columns:
        is_kept &= values_of(table, "status") == "done"
    rows = np.flatnonzero(is_kept)
    kept = {name: numbers[rows] for name, numbers in values.items()}
    return table.take(rows).reset_index(drop=True), kept


def values_of(table: pd.DataFrame, column: str) -> NDArray[np.object_]:
    """A column as an array of what it holds."""
    return np.array(list(table[column]), dtype=object)


def number_groups(*columns: NDArray[Any]) -> NDArray[np.int64]:
    """Number of each row's group, from 0 in the order in which they first appear.

    Args:
        columns: Rows that agree in all of these, ``(n_rows,)`` each, are a group.
    """
    keys = list(zip(*(column.tolist() for column in columns), strict=True))
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.int64)


def _nearest(name: str, table: pd.DataFrame) -> str:
    scores = [
        column.removeprefix("score.")
        for column in map(str, table.columns)
        if column.startswith(("score.", "final."))
    ]
    near = difflib.get_close_matches(name.removeprefix("score."), scores, n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
