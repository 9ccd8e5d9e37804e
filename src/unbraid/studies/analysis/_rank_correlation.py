"""Rank correlation between scores of the same runs, dataset by dataset and pooled."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata

from ._table import done_runs, require_columns, values_of

_FACTS = ("id", "data", "objective.name", "seed")


@dataclass(frozen=True, eq=False)
class RankCorrelation:
    """Rank correlations of every row's score with every column's.

    Attributes:
        values: Correlations from -1 to 1, NaN where they are not defined, ``(n_rows,
            n_columns)`` with the names of the scores.
        n_runs: Runs that have both scores, same shape and names.
        reasons: Why there is no correlation, by row and column, for every NaN.
    """

    values: pd.DataFrame
    n_runs: pd.DataFrame
    reasons: Mapping[tuple[str, str], str]


@dataclass(frozen=True, eq=False)
class RankAgreement:
    """How far scores put the same runs in the same order.

    Attributes:
        by_dataset: Rank correlations within each dataset, by its name.
        pooled: Rank correlations over all datasets.
        runs: Compared runs, for figures: a row per run with its dataset and scores.
        n_left_out: Runs of the table that are not done, or have none of the scores.
    """

    by_dataset: Mapping[str, RankCorrelation]
    pooled: RankCorrelation
    runs: pd.DataFrame
    n_left_out: int


def measure_agreement(
    caller: str, table: pd.DataFrame, rows: dict[str, str], columns: dict[str, str]
) -> RankAgreement:
    """Measure how far scores of a table agree with others.

    Args:
        caller: Name of the calling function, for error messages.
        table: One row per run, with the column ``data``.
        rows: Columns of the table by short name.
        columns: Columns to compare them with, by short name.
    """
    require_columns(caller, table, ["data"])
    runs, values = done_runs(table, {**rows, **columns})
    datasets = values_of(runs, "data")
    by_dataset = {
        str(name): _correlation(values, rows, columns, datasets, datasets == name)
        for name in dict.fromkeys(datasets)
    }
    everywhere = np.ones(len(runs), dtype=bool)
    facts = [column for column in _FACTS if column in runs.columns]
    return RankAgreement(
        by_dataset=by_dataset,
        pooled=_correlation(values, rows, columns, datasets, everywhere),
        runs=runs.reindex(columns=facts).assign(**values),
        n_left_out=len(table) - len(runs),
    )


def _correlation(
    values: Mapping[str, NDArray[np.float64]],
    rows: Iterable[str],
    columns: Iterable[str],
    groups: NDArray[np.object_],
    is_kept: NDArray[np.bool_],
) -> RankCorrelation:
    """Correlations among the runs that are kept."""
    kept = {name: numbers[is_kept] for name, numbers in values.items()}
    correlations, counts, reasons = {}, {}, {}
    for column in columns:
        pairs = {
            row: correlate_ranks(
                (row, column), (kept[row], kept[column]), groups[is_kept]
            )
            for row in rows
        }
        correlations[column] = {row: value for row, (value, _, _) in pairs.items()}
        counts[column] = {row: n_runs for row, (_, n_runs, _) in pairs.items()}
        reasons |= {(row, column): why for row, (_, _, why) in pairs.items() if why}
    return RankCorrelation(pd.DataFrame(correlations), pd.DataFrame(counts), reasons)


def correlate_ranks(
    names: tuple[str, str],
    scores: tuple[NDArray[np.float64], NDArray[np.float64]],
    groups: NDArray[Any],
) -> tuple[float, int, str]:
    r"""Spearman's rank correlation, within groups.

    Runs are ranked within their group, equal scores get their mean rank, and ranks are
    centered and divided by the size of the group:

    .. math::
        \rho = \frac{\sum_i a_i b_i}{\sqrt{\sum_i a_i^2 \sum_i b_i^2}}, \qquad
        a_i = \frac{1}{n_{g(i)}}
        \Bigl( \operatorname{rank}_{g(i)}(i) - \frac{n_{g(i)} + 1}{2} \Bigr)

    With one group this is Spearman's coefficient. With several, it does not matter that
    all scores may be higher in one group than in another.

    Args:
        names: Names of the two scores, for the reason.
        scores: Two scores of each run, ``(n_runs,)``; runs in which one is NaN are left
            out.
        groups: Group of each run, ``(n_runs,)``.

    Returns:
        The coefficient, the number of runs that have both scores, and the reason if the
        coefficient is NaN.
    """
    is_known = ~np.isnan(scores).any(axis=0)
    n_runs = int(is_known.sum())
    if n_runs < 2:
        runs = "one run has" if n_runs else "no run has"
        return math.nan, n_runs, f"{runs} both {names[0]} and {names[1]}"
    a, b = (_centered_ranks(part[is_known], groups[is_known]) for part in scores)
    # Mean ranks are exact, so that equal scores give zeros and not nearly zeros.
    for name, ranks in zip(names, (a, b), strict=True):
        if not ranks.any():
            return math.nan, n_runs, f"{name} does not vary among {n_runs} runs"
    value = float(a @ b / math.sqrt((a @ a) * (b @ b)))
    return min(1.0, max(-1.0, value)), n_runs, ""


def _centered_ranks(
    values: NDArray[np.float64], groups: NDArray[Any]
) -> NDArray[np.float64]:
    ranks = np.empty(len(values))
    for group in dict.fromkeys(groups.tolist()):
        rows = groups == group
        n_rows = np.count_nonzero(rows)
        ranks[rows] = (rankdata(values[rows]) - (n_rows + 1) / 2) / n_rows
    return ranks
