"""Comparisons of runs for the claims of Michlo (2022)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._tables import groups_of, numbers_of, rows_where

SCORES = {"score.mig": "MIG", "score.dci_disentanglement": "DCI disentanglement"}
"""Disentanglement metrics of the dissertation (section 3.3.2)."""

FRAMEWORKS = {"beta_vae": "beta-VAE", "ada_gvae": "Ada-GVAE"}
"""Display names of objectives."""

Numbers = NDArray[np.float64]


def scores_of(runs: pd.DataFrame, score: str) -> Numbers:
    """Return a score of all runs that have it."""
    return numbers_of(_scored(runs, score), score)


def _scored(runs: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return the runs that have a score."""
    if score not in runs:
        return runs.iloc[:0].assign(**{score: np.empty(0)})
    return runs.dropna(subset=[score])


def frameworks_of(runs: pd.DataFrame) -> list[str]:
    """Return the display name of the objective of each run."""
    return [FRAMEWORKS[name] for name in runs["objective.name"]]


def short_data(runs: pd.DataFrame) -> pd.Series:
    """Return the dataset of each run without options."""
    return runs["data"].str.partition(":")[0]


def on_squares(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on XYSquares."""
    return runs.loc[short_data(runs) == "xy_squares"]


def on_common(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs on other datasets than XYSquares."""
    return runs.loc[short_data(runs) != "xy_squares"]


def framework(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the runs of one objective."""
    return rows_where(runs, "objective.name", name)


def with_active_latents(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with active latents.

    The dissertation excludes the others, for which beta is too large.
    """
    return runs.loc[runs["final.active_latents"] > 0]


def without_duplicates(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs without duplicates on XYSquares.

    All factors of XYSquares have the same number of values, so scaled and unscaled
    distances order triplets in the same way, and such runs are identical.
    """
    if "objective.triplets" not in runs:
        return runs
    is_plain = runs["objective.triplets"] == "l1"
    return runs.loc[~(is_plain & (short_data(runs) == "xy_squares"))]


def best_of_sweeps(
    runs: pd.DataFrame, score: str, *, sweep: Sequence[str] = ("data", "seed")
) -> Numbers:
    """Return the highest score of each sweep.

    Args:
        runs: Table of runs, one row per run.
        score: Column of the score.
        sweep: Columns whose values identify a sweep.

    Example:
        >>> runs = {"seed": [0, 0, 1], "beta": [1, 4, 1], "mig": [0.25, 0.5, 0.75]}
        >>> best_of_sweeps(pd.DataFrame(runs), "mig", sweep=["seed"])
        array([0.5 , 0.75])
    """
    groups = groups_of(_scored(runs, score), sweep)
    return np.array([numbers_of(part, score).max() for part in groups.values()])


def paired_gains(
    runs: pd.DataFrame,
    score: str,
    *,
    column: str,
    better: object,
    worse: object,
    like: Sequence[str],
) -> Numbers:
    """Return score differences of pairs of runs that differ in one setting.

    Args:
        runs: Table of runs, one row per run.
        score: Column of the score.
        column: Column of the setting.
        better: Value of the setting that is better according to the claim.
        worse: Value to compare with.
        like: Columns in which both runs of a pair agree.

    Example:
        >>> runs = {"seed": [0, 0, 1, 1], "p": [1, 2, 1, 2], "mig": [3, 1, 2, 2]}
        >>> paired_gains(
        ...     pd.DataFrame(runs), "mig", column="p", better=1, worse=2, like=["seed"]
        ... )
        array([2., 0.])
    """
    values = _scored(runs, score).rename(columns={column: "setting"})
    means: Any = values.pivot_table(
        score, [name for name in like if name in runs], "setting"
    ).reindex(columns=[better, worse])
    return (means[better] - means[worse]).dropna().to_numpy()


def slopes(
    runs: pd.DataFrame, score: str, *, along: str, sweep: Sequence[str]
) -> Numbers:
    """Return the slope of a linear fit to the scores of each sweep.

    Args:
        runs: Table of runs, one row per run.
        score: Column of the score.
        along: Column of the independent variable.
        sweep: Columns whose values identify a sweep.

    Example:
        >>> runs = {"seed": [0, 0, 1, 1], "spacing": [1, 2, 1, 2], "mig": [3, 1, 2, 2]}
        >>> slopes(pd.DataFrame(runs), "mig", along="spacing", sweep=["seed"]).round(3)
        array([-2.,  0.])
    """
    parts = groups_of(runs, sweep).values() if score in runs else ()
    return np.array(
        [
            np.polyfit(numbers_of(part, along), numbers_of(part, score), 1)[0]
            for part in parts
            if not np.isnan(numbers_of(part, score)).any()
            and np.ptp(numbers_of(part, along)) > 0
        ]
    )
