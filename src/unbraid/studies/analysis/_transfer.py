"""Do good hyperparameters carry over to another dataset, or another metric?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._strengths import strengths
from ._table import (
    PUBLISHED_METRICS,
    done_runs,
    find_scores,
    number_groups,
    require_columns,
    values_of,
)

Cell = tuple[str, str]
"""Dataset and score."""

_WORDS = ("same", "different")
_KINDS = [(metric, data) for metric in _WORDS for data in _WORDS]


@dataclass(frozen=True, eq=False)
class Transfer:
    """How often chosen hyperparameters beat random ones.

    Attributes:
        probabilities: Four rows, one for each combination of ``metric`` and
            ``dataset`` (``"same"`` or ``"different"``): the ``probability``, its
            standard ``error`` from leaving out one seed at a time (NaN with fewer than
            three), the ``chance`` of random hyperparameters, the number of
            ``comparisons``, and a ``reason`` where there is none.
        cells: Values that they are means of, for figures: a row for each pair of
            ``source_data`` and ``source_score`` with ``target_data`` and
            ``target_score``, with ``probability`` and ``comparisons``.
        n_settings: Combinations of method and strength.
        n_left_out: Runs of the table that are not done, or have none of the scores.
    """

    probabilities: pd.DataFrame
    cells: pd.DataFrame
    n_settings: int
    n_left_out: int


def transfer(table: pd.DataFrame, scores: Sequence[str] | None = None) -> Transfer:
    r"""Probability that chosen hyperparameters do at least as well as random ones.

    Choose, by one score on one dataset with one seed :math:`s`, the method and strength
    :math:`h^*` with the highest value. Then look at another seed :math:`s' \neq s`, by
    the same or a different score :math:`m'`, on the same or a different dataset
    :math:`d'`: is the run with the chosen method and strength at least as good as one
    drawn at random from all of that seed's?

    .. math::
        P = \operatorname*{mean}_{s,\, m,\, d,\, s',\, m',\, d'}
        \frac{1}{H} \sum_{h} \mathbf{1} \bigl[
        y_{d' m' s'}(h) \le y_{d' m' s'}(h^*_{d m s}) \bigr]

    This is the mean that the published 10,000 random trials estimate, computed over all
    of them at once. A draw of the chosen run itself counts as a success, as any equal
    score does, so that the chance of random hyperparameters is a little above one half,
    :math:`(H + 1) / 2H` without ties.

    Args:
        table: One row per run, with the columns ``data``, ``objective.name``, ``seed``,
            the settings that vary, and ``score.<name>``; higher scores must be better.
            Runs that are not ``done`` in the column ``status``, or lack a score, take
            part in no comparison.
        scores: Names; when not given, those of the six published metrics that the table
            has. With one score, or one dataset, the rows of the others are NaN.

    Returns:
        Probabilities from 0 to 1. If several settings are equally good at the source,
        each is chosen as often.

    Raises:
        ValueError: If a setting has two runs with the same seed and dataset.

    Example:
        >>> table = pd.DataFrame({
        ...     "data": "xy_squares", "objective.name": "beta_vae",
        ...     "objective.beta": [1, 4, 1, 4], "seed": [0, 0, 1, 1],
        ...     "score.mig": [0.1, 0.3, 0.2, 0.4], "score.sap": [0.3, 0.2, 0.1, 0.0],
        ... })
        >>> found = transfer(table).probabilities
        >>> found[["metric", "dataset", "probability", "chance"]]
              metric    dataset  probability  chance
        0       same       same          1.0    0.75
        1       same  different          NaN     NaN
        2  different       same          0.5    0.75
        3  different  different          NaN     NaN

    References:
        Locatello et al. (2019), Challenging Common Assumptions in the Unsupervised
        Learning of Disentangled Representations, section 5.4 and Table 1: 80.7% for the
        same metric and dataset, 59.3% for the same metric on a different dataset, 54.9%
        for a different metric on a different dataset. https://arxiv.org/abs/1811.12359
        The text leaves open whether the random model has the seed of the one it is
        compared with; here it has.
    """
    caller = "transfer"
    require_columns(caller, table, ["data", "objective.name", "seed"])
    found = find_scores(caller, table, scores, PUBLISHED_METRICS)
    runs, values = done_runs(strengths(table), found)
    grids = _grids(caller, runs, values)
    n_settings = next(iter(grids.values())).shape[1] if grids else 0
    totals = {kind: _Comparisons.none(grids) for kind in _KINDS}
    cells = []
    # With one setting there is nothing to choose.
    compared = grids if n_settings > 1 else {}
    for source, target in itertools.product(compared, repeat=2):
        made = _compare(grids[source], grids[target])
        totals[_kind(source, target)] += made
        cells.append((*source, *target, made.probability, made.n_comparisons))
    names = ("source_data", "source_score", "target_data", "target_score")
    rows = [_row(kind, totals[kind], compared) for kind in _KINDS]
    return Transfer(
        probabilities=pd.DataFrame(rows),
        cells=pd.DataFrame(cells, columns=[*names, "probability", "comparisons"]),
        n_settings=n_settings,
        n_left_out=len(table) - len(runs),
    )


@dataclass(frozen=True)
class _Comparisons:
    """Sums over comparisons, by seed of the choice and seed of the comparison.

    Attributes:
        successes: Successes of chosen settings, ``(n_seeds, n_seeds)``.
        lucky: Successes of random settings, of the same shape.
        weights: Weights of the comparisons: 1, or less where several settings are
            chosen.
        n_comparisons: Number of comparisons.
    """

    successes: NDArray[np.float64]
    lucky: NDArray[np.float64]
    weights: NDArray[np.float64]
    n_comparisons: int

    @classmethod
    def none(cls, grids: dict[Cell, NDArray[np.float64]]) -> "_Comparisons":
        n_seeds = next(iter(grids.values())).shape[0] if grids else 0
        zeros = np.zeros((n_seeds, n_seeds))
        return cls(zeros, zeros, zeros, 0)

    def __add__(self, other: "_Comparisons") -> "_Comparisons":
        return _Comparisons(
            self.successes + other.successes,
            self.lucky + other.lucky,
            self.weights + other.weights,
            self.n_comparisons + other.n_comparisons,
        )

    @property
    def probability(self) -> float:
        return _ratio(self.successes.sum(), self.weights.sum())

    @property
    def error(self) -> float:
        """Standard error of the probability, from leaving out one seed at a time."""
        estimates = [
            _ratio(_without(self.successes, seed), _without(self.weights, seed))
            for seed in range(len(self.weights))
        ]
        known = np.array([value for value in estimates if not math.isnan(value)])
        if len(known) < 3:
            return math.nan
        return float(math.sqrt((len(known) - 1) * np.var(known)))


def _grids(
    caller: str, runs: pd.DataFrame, values: dict[str, NDArray[np.float64]]
) -> dict[Cell, NDArray[np.float64]]:
    """Scores of each dataset and metric, ``(n_seeds, n_settings)``, NaN if missing."""
    datasets, methods = values_of(runs, "data"), values_of(runs, "method")
    seeds = number_groups(values_of(runs, "seed"))
    settings = number_groups(methods, values_of(runs, "strength_rank"))
    shape = (int(seeds.max(initial=-1)) + 1, int(settings.max(initial=-1)) + 1)
    grids = {}
    for data in dict.fromkeys(datasets):
        rows = np.flatnonzero(datasets == data)
        indices = seeds[rows], settings[rows]
        counts = np.zeros(shape, dtype=np.int64)
        np.add.at(counts, indices, 1)
        if (counts > 1).any():
            row = rows[np.flatnonzero(counts[indices] > 1)[0]]
            raise ValueError(
                f"{caller} needs one run for each dataset, setting and seed, but the "
                f"table has two of {methods[row]} on {data} with seed "
                f"{runs['seed'].iloc[row]}."
            )
        for score, numbers in values.items():
            grids[data, score] = np.full(shape, math.nan)
            grids[data, score][indices] = numbers[rows]
    return grids


def _compare(source: NDArray[np.float64], target: NDArray[np.float64]) -> _Comparisons:
    """Comparisons of what the source chooses, on all other seeds of the target."""
    is_known = ~np.isnan(source)
    best = np.where(is_known, source, -np.inf).max(axis=1, keepdims=True)
    chosen = _shares(is_known & (source == best))
    drawn = _shares(is_known)
    is_there = ~np.isnan(target)
    # Rivals that a setting does at least as well as, as a share of those there are.
    beaten = target[:, :, None] >= target[:, None, :]
    n_there = np.maximum(is_there.sum(axis=1, keepdims=True), 1)
    wins = beaten.sum(axis=2) / n_there
    is_other = 1.0 - np.eye(len(source))
    weights = chosen @ is_there.T * is_other
    # Random settings count as much as the chosen ones that they stand in for.
    luck = drawn @ wins.T / np.maximum(drawn @ is_there.T, np.finfo(float).tiny)
    return _Comparisons(
        successes=chosen @ wins.T * is_other,
        lucky=luck * weights,
        weights=weights,
        n_comparisons=int(np.count_nonzero(weights)),
    )


def _shares(is_one: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Each row divided among its true entries; zeros if there is none."""
    return is_one / np.maximum(is_one.sum(axis=1, keepdims=True), 1)


def _kind(source: Cell, target: Cell) -> tuple[str, str]:
    metric = "same" if source[1] == target[1] else "different"
    return metric, "same" if source[0] == target[0] else "different"


def _row(
    kind: tuple[str, str],
    made: _Comparisons,
    grids: dict[Cell, NDArray[np.float64]],
) -> dict[str, Any]:
    return {
        "metric": kind[0],
        "dataset": kind[1],
        "probability": made.probability,
        "error": made.error,
        "chance": _ratio(made.lucky.sum(), made.weights.sum()),
        "comparisons": made.n_comparisons,
        "reason": "" if made.n_comparisons else _reason(kind, grids),
    }


def _reason(kind: tuple[str, str], grids: dict[Cell, NDArray[np.float64]]) -> str:
    if not grids:
        return "fewer than two settings"
    if kind[0] == "different" and len({score for _, score in grids}) < 2:
        return "one score only"
    if kind[1] == "different" and len({data for data, _ in grids}) < 2:
        return "one dataset only"
    return "no setting has runs with two seeds"


def _without(values: NDArray[np.float64], seed: int) -> float:
    return float(np.delete(np.delete(values, seed, axis=0), seed, axis=1).sum())


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else math.nan
