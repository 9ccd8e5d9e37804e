"""What the trained claims of the dissertation compare: sweeps, pairs, trends."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._finding import Check, Interval
from ._tables import chosen, groups_of, numbers_of, rows_where, words_of

SCORES = {"score.mig": "MIG", "score.dci_disentanglement": "DCI disentanglement"}
"""What the dissertation measures disentanglement by (section 3.3.2)."""

FRAMEWORKS = {"beta_vae": "beta-VAE", "ada_gvae": "Ada-GVAE"}
"""Names of objectives in words."""

Numbers = NDArray[np.float64]


def scores_of(runs: pd.DataFrame, score: str) -> Numbers:
    """A score of all runs that have it."""
    if score not in runs:
        return np.empty(0)
    values = numbers_of(runs, score)
    return values[~np.isnan(values)]


def frameworks_of(runs: pd.DataFrame) -> list[str]:
    """The framework of each run in words."""
    return [FRAMEWORKS[name] for name in words_of(runs, "objective.name")]


def short_data(runs: pd.DataFrame) -> list[str]:
    """The kind of dataset of each run, without its options."""
    return [data.partition(":")[0] for data in words_of(runs, "data")]


def on_squares(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs on the adversarial dataset."""
    return chosen(runs, [kind == "xy_squares" for kind in short_data(runs)])


def on_common(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs on any other dataset."""
    return chosen(runs, [kind != "xy_squares" for kind in short_data(runs)])


def framework(runs: pd.DataFrame, name: str) -> pd.DataFrame:
    """Runs of one objective."""
    return rows_where(runs, "objective.name", name)


def that_learnt(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs that put anything at all into their code.

    The dissertation leaves out those that fail to, for which beta is too large.
    """
    return chosen(runs, [n > 0 for n in numbers_of(runs, "final.active_latents")])


def without_twins(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs with triplets, each once.

    All factors of XYSquares have as many values, so that distances put triplets in the
    same order whether they are scaled or not: such runs are the same to the last digit.
    """
    if "objective.triplets" not in runs:
        return runs
    kinds = zip(short_data(runs), words_of(runs, "objective.triplets"), strict=True)
    return chosen(runs, [kind != ("xy_squares", "l1") for kind in kinds])


def best_of_sweeps(
    runs: pd.DataFrame, score: str, *, sweep: Sequence[str] = ("data", "seed")
) -> Numbers:
    """The highest score of each sweep: over beta, and all that does not name a sweep.

    Args:
        runs: One row per run.
        score: Column of the score.
        sweep: Columns whose values tell one sweep from another.

    Example:
        >>> runs = {"seed": [0, 0, 1], "beta": [1, 4, 1], "mig": [0.25, 0.5, 0.75]}
        >>> best_of_sweeps(pd.DataFrame(runs), "mig", sweep=["seed"])
        array([0.5 , 0.75])
    """
    found = [scores_of(part, score) for part in groups_of(runs, sweep).values()]
    return np.array([scores.max() for scores in found if scores.size])


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

    Example:
        >>> runs = {"seed": [0, 0, 1, 1], "p": [1, 2, 1, 2], "mig": [3, 1, 2, 2]}
        >>> paired_gains(
        ...     pd.DataFrame(runs), "mig", column="p", better=1, worse=2, like=["seed"]
        ... )
        array([2., 0.])
    """
    gains = []
    for part in groups_of(runs, like).values():
        high, low = (
            scores_of(rows_where(part, column, value), score)
            for value in (better, worse)
        )
        if high.size and low.size:
            gains.append(high.mean() - low.mean())
    return np.array(gains)


def slopes(
    runs: pd.DataFrame, score: str, *, along: str, sweep: Sequence[str]
) -> Numbers:
    """Slope of the straight line through the scores of each sweep.

    Args:
        runs: One row per run.
        score: Column of the score.
        along: Column of the number that it is a function of.
        sweep: Columns whose values tell one sweep from another.

    Example:
        >>> runs = {"seed": [0, 0, 1, 1], "spacing": [1, 2, 1, 2], "mig": [3, 1, 2, 2]}
        >>> slopes(pd.DataFrame(runs), "mig", along="spacing", sweep=["seed"]).round(3)
        array([-2.,  0.])
    """
    found = []
    for part in groups_of(runs, sweep).values():
        places = numbers_of(part, along)
        if scores_of(part, score).size == len(part) and np.ptp(places) > 0:
            found.append(np.polyfit(places, numbers_of(part, score), 1)[0])
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
