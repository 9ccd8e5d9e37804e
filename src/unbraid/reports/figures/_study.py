"""Figures of a study: scores by method, strength and seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.studies.analysis import (
    VarianceExplained,
    strengths,
    values_of,
)

from ._drawing import label_of, new_figure, tidy
from ._frames import chosen_rows, count_different, is_done, is_equal, numbers, texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def score_by_strength(table: pd.DataFrame, score: str) -> pd.DataFrame:
    """Return a score of every finished run, with method and strength.

    Args:
        table: One row per run, from :func:`unbraid.studies.study_table`.
        score: Column that holds the score.

    Returns:
        Table with one row per run and the columns ``method``, ``strength``,
        ``strength_rank``, ``seed`` and ``value``. Runs without the score are left out.
    """
    columns = ["method", "strength", "strength_rank", "seed"]
    values = numbers(table, score)
    runs = strengths(table).reindex(columns=columns).assign(value=values)
    kept = chosen_rows(runs, is_done(table) & ~np.isnan(values))
    return kept.reset_index(drop=True)


def draw_score_by_strength(scores: pd.DataFrame, *, score: str = "score") -> Figure:
    """Draw every run as a point and the mean as a line, with one panel per method.

    The spread of points of one strength is due to the seed, and the difference between
    means is due to the strength.

    Args:
        scores: Scores from :func:`score_by_strength`.
        score: Name of the score.
    """
    methods = list(dict.fromkeys(scores["method"]))
    n_columns = min(len(methods), 4)
    n_rows = -(-len(methods) // n_columns)
    size = (2.4 * n_columns + 0.5, 2.2 * n_rows)
    figure = new_figure(size)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(methods) :]:
        axes.set_axis_off()
    for axes, method in zip(grid.flat, methods, strict=False):
        part = chosen_rows(scores, is_equal(scores, "method", method))
        ranks, values = numbers(part, "strength_rank"), numbers(part, "value")
        axes.plot(ranks, values, "o", markersize=4, alpha=0.5, mew=0)
        positions = sorted(set(ranks.tolist()))
        means = [values[ranks == position].mean() for position in positions]
        axes.plot(positions, means, color="#8a8a8a", linewidth=1.2)
        strength = values_of(part, "strength")
        labels = [_format_strength(strength[ranks == k][0]) for k in positions]
        is_long = max(map(len, labels)) > 6
        axes.set_xticks(
            positions,
            labels,
            rotation=40 if is_long else 0,
            ha="right" if is_long else "center",
        )
        axes.set_xlim(min(positions) - 0.5, max(positions) + 0.5)
        axes.set_title(label_of(method), fontsize=9, loc="left")
        tidy(axes)
    for row in grid:
        row[0].set_ylabel(label_of(score), fontsize=8)
    figure.supxlabel("strength", fontsize=8)
    return figure


def draw_scores_by_method(variance: VarianceExplained) -> Figure:
    """Draw the distribution of scores of each method, with one panel per score.

    Args:
        variance: Scores from :func:`unbraid.studies.analysis.variance_explained`.
    """
    scores = list(dict.fromkeys(variance.runs["score"]))
    n_columns = min(len(scores), 4)
    n_rows = -(-len(scores) // n_columns)
    size = (2.5 * n_columns, 2.3 * n_rows + 0.4)
    figure = new_figure(size)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True)
    for axes in grid.flat[len(scores) :]:
        axes.set_axis_off()
    methods = list(dict.fromkeys(variance.runs["method"]))
    for axes, score in zip(grid.flat, scores, strict=False):
        of_score = is_equal(variance.runs, "score", score)
        for position, method in enumerate(methods):
            is_own = of_score & is_equal(variance.runs, "method", method)
            values = numbers(variance.runs, "value")[is_own]
            _draw_distribution(axes, position, values)
        axes.set_xticks(
            range(len(methods)),
            [label_of(method) for method in methods],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
        )
        axes.set_title(label_of(score), fontsize=9, loc="left")
        tidy(axes)
        axes.tick_params(axis="x", labelsize=7)
    # Tick labels below the last panel of every column.
    for axes in grid.flat[max(len(scores) - n_columns, 0) : len(scores)]:
        axes.tick_params(labelbottom=True)
    figure.supylabel("score", fontsize=8)
    return figure


def draw_variance_explained(variance: VarianceExplained) -> Figure:
    """Draw the share of the variance due to method, strength and seed.

    Args:
        variance: Shares from :func:`unbraid.studies.analysis.variance_explained`.
    """
    is_known = ~np.isnan(numbers(variance.shares, "objective"))
    shares = chosen_rows(variance.shares, is_known)
    several = count_different(shares, "data") > 1
    pairs = zip(texts(shares, "score"), texts(shares, "data"), strict=True)
    names = [
        label_of(f"{score}, {data}" if several else score) for score, data in pairs
    ]
    method, both = (
        numbers(shares, name) for name in ("objective", "objective_and_strength")
    )
    parts = {
        "method": method,
        "strength": both - method,
        "seed": numbers(shares, "seed"),
    }
    figure = new_figure((6.4, 0.28 * len(names) + 0.9))
    axes = figure.add_subplot()
    left = np.zeros(len(names))
    colors = ("#3b6fb6", "#8db4e2", "#b9b9b9")
    for (part, width), color in zip(parts.items(), colors, strict=True):
        axes.barh(range(len(names)), width, left=left, label=part, color=color)
        left = left + width
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the variance", fontsize=8)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    tidy(axes)
    return figure


def _draw_distribution(axes: Any, position: int, values: NDArray[np.float64]) -> None:
    """Draw a violin, or points if there are few or all are equal."""
    if len(values) >= 8 and np.ptp(values) > 0:
        parts = axes.violinplot([values], positions=[position], showmedians=True)
        for name in ("cbars", "cmins", "cmaxes", "cmedians"):
            parts[name].set_linewidth(0.8)
        return
    x = np.full(len(values), position)
    axes.plot(x, values, "o", markersize=3, alpha=0.6, mew=0)


def _format_strength(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:g}"
    label = label_of(value)
    return label if len(label) <= 14 else label[:13] + "\u2026"
