"""What the trained claims of the dissertation compare: sweeps, pairs, trends."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._finding import Check, Interval

SCORES = {"score.mig": "MIG", "score.dci_disentanglement": "DCI disentanglement"}
"""What the dissertation measures disentanglement by (section 3.3.2)."""

FRAMEWORKS = {"beta_vae": "beta-VAE", "ada_gvae": "Ada-GVAE"}
"""Names of objectives in words."""

Numbers = NDArray[np.float64]


def scores_of(runs: pd.DataFrame, score: str) -> Numbers:
    """A score of all runs that have it."""
    if score not in runs:
        return np.empty(0)
    return runs[score].dropna().to_numpy(dtype=np.float64)


def short_data(runs: pd.DataFrame) -> "pd.Series[str]":
    """The kind of dataset of each run, without its options."""
    return runs["data"].str.partition(":")[0]


def is_squares(runs: pd.DataFrame) -> "pd.Series[bool]":
    """Which runs are on the adversarial dataset."""
    return short_data(runs) == "xy_squares"


def framework(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Runs of one objective."""
    return runs[runs["objective.name"] == name]


def that_learnt(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs that put anything at all into their code.

    The dissertation leaves out those that fail to, for which beta is too large.
    """
    return runs[runs["final.active_latents"] > 0]


def best_of_sweeps(
    runs: pd.DataFrame, score: str, *, sweep: Sequence[str] = ("data", "seed")
) -> Numbers:
    """The highest score of each sweep: over beta, and all that does not name a sweep.

    Args:
        runs: One row per run.
        score: Column of the score.
        sweep: Columns whose values tell one sweep from another; those that the table
            does not have are left out.
    """
    known = [name for name in sweep if name in runs]
    if score not in runs or runs.empty:
        return np.empty(0)
    best = runs.groupby(known)[score].max().dropna()
    return best.to_numpy(dtype=np.float64)


def paired_gains(
    runs: pd.DataFrame,
    score: str,
    *,
    column: str,
    better: object,
    worse: object,
    like: Sequence[str],
) -> Numbers:
    """Score with one value of a setting less that with another, all else alike.

    Args:
        runs: One row per run.
        score: Column of the score.
        column: The setting.
        better: The value that the claim takes for better.
        worse: What it is compared with.
        like: Columns in which both runs of a pair agree.
    """
    if score not in runs:
        return np.empty(0)
    keys = [name for name in like if name in runs]
    # Missing settings are settings too, and numbers may be written in several ways.
    plain = runs.assign(**{name: runs[name].astype(str) for name in keys})
    high, low = (
        plain[plain[column] == value].set_index(keys)[score]
        for value in (better, worse)
    )
    return (high - low).dropna().to_numpy(dtype=np.float64)


def slopes(
    runs: pd.DataFrame, score: str, *, along: str, sweep: Sequence[str]
) -> Numbers:
    """Slope of the straight line through the scores of each sweep.

    Args:
        runs: One row per run.
        score: Column of the score.
        along: Column of the number that it is a function of.
        sweep: Columns whose values tell one sweep from another.
    """
    if score not in runs:
        return np.empty(0)
    found = []
    for _, part in runs.dropna(subset=[score]).groupby(list(sweep)):
        if part[along].nunique() > 1:
            found.append(np.polyfit(part[along], part[score], 1)[0])
    return np.array(found)


def above(
    quantity: str, found: tuple[float, Interval | None], *, bound: float = 0.0
) -> Check:
    """A check that a number is above a bound."""
    return Check(
        quantity=quantity,
        expected=f"above {bound:g}",
        value=found[0],
        interval=found[1],
        least=bound,
    )


def below(
    quantity: str, found: tuple[float, Interval | None], *, bound: float = 0.0
) -> Check:
    """A check that a number is below a bound."""
    return Check(
        quantity=quantity,
        expected=f"below {bound:g}",
        value=found[0],
        interval=found[1],
        most=bound,
    )
