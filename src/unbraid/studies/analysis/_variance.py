"""How much of a score is due to the objective, to its strength, and to luck?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._own_scores import default_metrics
from ._strengths import strengths
from ._table import (
    done_runs,
    find_scores,
    number_groups,
    require_columns,
    values_of,
)

_FACTS = ["data", "method", "strength", "strength_rank"]


@dataclass(frozen=True, eq=False)
class VarianceExplained:
    """Shares of the variance of scores.

    Attributes:
        shares: A row per dataset and score: ``data``, ``score``; the shares explained
            by the ``objective``, by the ``objective_and_strength``, and the rest, by
            the ``seed``; the first two adjusted for degrees of freedom,
            ``objective_adjusted`` and ``objective_and_strength_adjusted``; ``n_runs``,
            ``n_methods``, ``n_settings``; and a ``reason`` if a share is NaN.
        runs: Compared runs, for figures: a row per run and score, with ``data``,
            ``score``, ``method``, ``strength``, ``strength_rank`` and ``value``.
        n_left_out: Runs of the table that are not done, or have none of the scores.
    """

    shares: pd.DataFrame
    runs: pd.DataFrame
    n_left_out: int


def variance_explained(
    table: pd.DataFrame, score: str | Sequence[str] | None = None
) -> VarianceExplained:
    r"""Share of the variance of scores that the settings of runs explain.

    A regression on indicators predicts the mean of each group of runs. The groups are
    first the methods, then all combinations of method and strength, which is what a
    model of methods with strengths nested in them amounts to. What is left differs in
    the seed only. Over the runs :math:`i` of a dataset, with groups :math:`g`,

    .. math::
        R^2 = 1 - \frac{\sum_i (y_i - \bar y_{g(i)})^2}{\sum_i (y_i - \bar y)^2},
        \qquad
        R^2_{\text{adjusted}} = 1 - (1 - R^2) \frac{n - 1}{n - p}

    The first is what was published; with :math:`p` groups of scores that mean nothing
    it still is :math:`(p - 1) / (n - 1)` on average, and the second is 0.

    Args:
        table: One row per run, with the columns ``data``, ``objective.name``, the
            settings that vary, and ``score.<name>``. Runs that are not ``done`` in the
            column ``status`` are left out.
        score: A name, or several; all metrics that the table has when not given, also
            those of other packages and of the user's own files.

    Returns:
        Shares from 0 to 1 (the adjusted ones may be below 0) for each dataset and
        score.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares",
        ...     "objective.name": ["beta_vae"] * 4 + ["vae"] * 2,
        ...     "objective.beta": [2, 2, 4, 4, None, None],
        ...     "score.mig": [0.1, 0.3, 0.3, 0.5, 0.6, 0.6],
        ... })
        >>> shares = variance_explained(table, "mig").shares
        >>> shares[["objective", "objective_and_strength", "seed"]].round(3)
           objective  objective_and_strength  seed
        0        0.6                     0.8   0.2

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 5.3 and Figure 3, and the two
        tables of variance explained in its appendix. https://arxiv.org/abs/1811.12359
    """
    caller = "variance_explained"
    require_columns(caller, table, ["data", "objective.name"])
    found = find_scores(caller, table, score, default_metrics(table))
    runs, values = done_runs(strengths(table), found)
    methods = values_of(runs, "method")
    settings = number_groups(methods, values_of(runs, "strength_rank"))
    datasets = values_of(runs, "data")
    rows, drawn = [], []
    for data, name in itertools.product(dict.fromkeys(datasets), values):
        some = np.flatnonzero((datasets == data) & ~np.isnan(values[name]))
        part = _shares(values[name][some], number_groups(methods[some]), settings[some])
        rows.append({"data": data, "score": name, **part})
        facts = runs.take(some).reindex(columns=_FACTS)
        drawn.append(facts.assign(score=name, value=values[name][some]))
    nothing = _shares(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    return VarianceExplained(
        shares=pd.DataFrame(rows, columns=["data", "score", *nothing]),
        runs=pd.concat(drawn, ignore_index=True)
        if drawn
        else pd.DataFrame(columns=[*_FACTS, "score", "value"]),
        n_left_out=len(table) - len(runs),
    )


def _shares(
    values: NDArray[np.float64], methods: NDArray[np.int64], settings: NDArray[np.int64]
) -> dict[str, Any]:
    n_runs, n_methods, n_settings = (
        len(values),
        len(np.unique(methods)),
        len(np.unique(settings)),
    )
    # Equal scores may have a mean that differs from them by rounding.
    is_constant = not (values != values[:1]).any()
    objective = math.nan if is_constant else _explained(values, methods)
    both = math.nan if is_constant else _explained(values, settings)
    reason = ""
    if is_constant:
        reason = f"the score does not vary among {n_runs} runs"
    elif n_settings == n_runs:
        reason = "every setting has one run, so that nothing is left to the seed"
    return {
        "objective": objective,
        "objective_and_strength": both,
        "seed": 1.0 - both,
        "objective_adjusted": _adjusted(objective, n_runs, n_methods),
        "objective_and_strength_adjusted": _adjusted(both, n_runs, n_settings),
        "n_runs": n_runs,
        "n_methods": n_methods,
        "n_settings": n_settings,
        "reason": reason,
    }


def _explained(values: NDArray[np.float64], groups: NDArray[np.int64]) -> float:
    # Sums without values in between are zero, and so is their mean.
    counts = np.maximum(np.bincount(groups), 1)
    means = np.bincount(groups, weights=values) / counts
    inside, around = values - means[groups], values - values.mean()
    return float(1.0 - (inside @ inside) / (around @ around))


def _adjusted(share: float, n_runs: int, n_groups: int) -> float:
    if n_runs <= n_groups:
        return math.nan
    return 1.0 - (1.0 - share) * (n_runs - 1) / (n_runs - n_groups)
