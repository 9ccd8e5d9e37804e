"""Estimates with intervals, over seeds or resampled runs."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from unbraid.foundation import numpy_generator

from ._finding import Estimate

_N_RESAMPLES = 1_000


def mean_of(values: ArrayLike) -> Estimate:
    """Return the mean of independent values and its 95% interval (Student's t).

    Args:
        values: One value per seed, ``(n_seeds,)``.

    Returns:
        Mean and interval. The interval of a single value is infinite.

    Example:
        >>> mean, (low, high) = mean_of([0.1, 0.2, 0.3])
        >>> round(mean, 3), round(low, 3), round(high, 3)
        (0.2, -0.048, 0.448)
    """
    numbers = np.asarray(values, dtype=np.float64)
    mean = float(numbers.mean()) if numbers.size else math.nan
    if numbers.size < 2:
        return mean, (-math.inf, math.inf)
    error = float(stats.sem(numbers))
    reach = float(stats.t.ppf(0.975, numbers.size - 1)) * error
    return mean, (mean - reach, mean + reach)


def gain_of(better: ArrayLike, worse: ArrayLike) -> Estimate:
    """Return the difference of two means and its 95% interval (Welch's t).

    Args:
        better: Sample that should be higher according to the claim, ``(n,)``.
        worse: Sample to compare with, ``(m,)``.

    Example:
        >>> gain, (low, high) = gain_of([0.5, 0.6, 0.7], [0.1, 0.2, 0.3])
        >>> round(gain, 3), round(low, 3), round(high, 3)
        (0.4, 0.173, 0.627)
    """
    a, b = (np.asarray(part, dtype=np.float64) for part in (better, worse))
    gain = float(a.mean() - b.mean()) if a.size and b.size else math.nan
    if min(a.size, b.size) < 2:
        return gain, (-math.inf, math.inf)
    if not (a.var() or b.var()):
        return gain, (gain, gain)
    test = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return gain, (float(test.low), float(test.high))


def spread_ratio(values: ArrayLike, groups: Sequence[ArrayLike]) -> Estimate:
    """Return the standard deviation of a sample over that within groups.

    The 95% interval of the ratio is that of an F test.

    Args:
        values: Sample, ``(n,)``.
        groups: Samples to compare with. Deviations from their means are pooled.

    Example:
        >>> ratio, (low, high) = spread_ratio([0.0, 2.0, 4.0], [[0.0, 1.0, 2.0]])
        >>> round(ratio, 3), low < 1 < high
        (2.0, True)
    """
    sample = np.asarray(values, dtype=np.float64)
    others = [np.asarray(group, dtype=np.float64) for group in groups]
    own, pooled = sample.size - 1, sum(group.size - 1 for group in others)
    if min(own, pooled) < 1:
        return math.nan, (-math.inf, math.inf)
    within = sum(float(((group - group.mean()) ** 2).sum()) for group in others)
    if not within:
        return math.nan, (-math.inf, math.inf)
    squared = float(sample.var(ddof=1)) / (within / pooled)
    high, low = stats.f.ppf([0.025, 0.975], own, pooled)
    return math.sqrt(squared), (math.sqrt(squared / low), math.sqrt(squared / high))


def resampled(
    table: pd.DataFrame,
    statistic: Callable[[pd.DataFrame], float],
    *,
    within: str | Sequence[str] | None = None,
    n_resamples: int = _N_RESAMPLES,
    seed: int = 0,
) -> Estimate:
    """Return a statistic of runs and its 95% bootstrap interval.

    Args:
        table: Table of runs, one row per run.
        statistic: Function from a table to a number. Resamples for which it is NaN are
            ignored.
        within: Columns that define groups of fixed size, such as the settings of a
            sweep, so that only seeds are resampled. Default: one group.
        n_resamples: Number of resamples.
        seed: Seed of the resampling.

    Returns:
        Statistic of the table, and the central 95% of its values over resamples.
    """
    generator = numpy_generator(seed, "reproductions", "resampling")
    groups = _groups(table, within)
    drawn = []
    for _ in range(n_resamples):
        rows = np.concatenate(
            [generator.choice(group, size=len(group)) for group in groups]
        )
        drawn.append(statistic(table.iloc[rows]))
    known = np.array([value for value in drawn if math.isfinite(value)])
    value = float(statistic(table))
    if known.size < n_resamples / 2:
        return value, (-math.inf, math.inf)
    low, high = np.quantile(known, [0.025, 0.975])
    # Repeated runs bias some statistics, so the interval is extended to the value.
    return value, (min(float(low), value), max(float(high), value))


def _groups(table: pd.DataFrame, within: str | Sequence[str] | None) -> list[Any]:
    positions = np.arange(len(table))
    if within is None:
        return [positions]
    names = [within] if isinstance(within, str) else list(within)
    keys = table[names].astype(str).agg("|".join, axis=1).to_numpy()
    return [positions[keys == key] for key in dict.fromkeys(keys)]
