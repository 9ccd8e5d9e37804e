"""Pictures of a study: what its settings are worth, and what decides that."""

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
    """A score of every finished run, by method and strength.

    Args:
        table: One row per run, from :func:`unbraid.studies.study_table`.
        score: Name of a column.

    Returns:
        A row per run with ``method``, ``strength``, ``strength_rank``, ``seed`` and
        ``value``; runs without the score are left out.
    """
    columns = ["method", "strength", "strength_rank", "seed"]
    values = numbers(table, score)
    runs = strengths(table).reindex(columns=columns).assign(value=values)
    kept = chosen_rows(runs, is_done(table) & ~np.isnan(values))
    return kept.reset_index(drop=True)


def draw_score_by_strength(found: pd.DataFrame, *, score: str = "score") -> Figure:
    """Every run as a point, a panel per method, the mean as a line.

    How far points of one strength are apart is luck; how far the means are apart is
    what the strength does.

    Args:
        found: What to draw, from :func:`score_by_strength`.
        score: What it is called.
    """
    methods = list(dict.fromkeys(found["method"]))
    n_columns = min(len(methods), 4)
    n_rows = -(-len(methods) // n_columns)
    size = (2.4 * n_columns + 0.5, 2.2 * n_rows)
    figure = new_figure(size)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharey=True)
    for axes in grid.flat[len(methods) :]:
        axes.set_axis_off()
    for axes, method in zip(grid.flat, methods, strict=False):
        part = chosen_rows(found, is_equal(found, "method", method))
        ranks, values = numbers(part, "strength_rank"), numbers(part, "value")
        axes.plot(ranks, values, "o", markersize=4, alpha=0.5, mew=0)
        places = sorted(set(ranks.tolist()))
        means = [values[ranks == place].mean() for place in places]
        axes.plot(places, means, color="#8a8a8a", linewidth=1.2)
        known = values_of(part, "strength")
        words = [_strength(known[ranks == place][0]) for place in places]
        is_long = max(map(len, words)) > 6
        axes.set_xticks(
            places,
            words,
            rotation=40 if is_long else 0,
            ha="right" if is_long else "center",
        )
        axes.set_xlim(min(places) - 0.5, max(places) + 0.5)
        axes.set_title(label_of(method), fontsize=9, loc="left")
        tidy(axes)
    for row in grid:
        row[0].set_ylabel(label_of(score), fontsize=8)
    return figure


def draw_scores_by_method(found: VarianceExplained) -> Figure:
    """Where the scores of each method lie, a panel per score.

    Args:
        found: From :func:`unbraid.studies.analysis.variance_explained`.
    """
    scores = list(dict.fromkeys(found.runs["score"]))
    n_columns = min(len(scores), 4)
    n_rows = -(-len(scores) // n_columns)
    size = (2.5 * n_columns, 2.3 * n_rows + 0.4)
    figure = new_figure(size)
    grid = figure.subplots(n_rows, n_columns, squeeze=False, sharex=True)
    for axes in grid.flat[len(scores) :]:
        axes.set_axis_off()
    methods = list(dict.fromkeys(found.runs["method"]))
    for axes, score in zip(grid.flat, scores, strict=False):
        of_score = is_equal(found.runs, "score", score)
        for place, method in enumerate(methods):
            is_own = of_score & is_equal(found.runs, "method", method)
            _draw_distribution(axes, place, numbers(found.runs, "value")[is_own])
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
    # Names below the last panel of every column, where there is no panel further down.
    for axes in grid.flat[max(len(scores) - n_columns, 0) : len(scores)]:
        axes.tick_params(labelbottom=True)
    return figure


def draw_variance_explained(found: VarianceExplained) -> Figure:
    """For each score, the shares of method, strength and seed.

    Args:
        found: From :func:`unbraid.studies.analysis.variance_explained`.
    """
    is_known = ~np.isnan(numbers(found.shares, "objective"))
    shares = chosen_rows(found.shares, is_known)
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
        "its strength": both - method,
        "seed": numbers(shares, "seed"),
    }
    figure = new_figure((6.4, 0.28 * len(names) + 0.9))
    axes = figure.add_subplot()
    left = np.zeros(len(names))
    colours = ("#3b6fb6", "#8db4e2", "#b9b9b9")
    for (part, width), colour in zip(parts.items(), colours, strict=True):
        axes.barh(range(len(names)), width, left=left, label=part, color=colour)
        left = left + width
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("share of the variance", fontsize=8)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    tidy(axes)
    return figure


def _draw_distribution(axes: Any, place: int, values: NDArray[np.float64]) -> None:
    """A violin, or points if they are too few or all alike."""
    if len(values) >= 8 and np.ptp(values) > 0:
        parts = axes.violinplot([values], positions=[place], showmedians=True)
        for name in ("cbars", "cmins", "cmaxes", "cmedians"):
            parts[name].set_linewidth(0.8)
        return
    axes.plot(np.full(len(values), place), values, "o", markersize=3, alpha=0.6, mew=0)


def _strength(value: Any) -> str:
    if isinstance(value, float):
        return "" if np.isnan(value) else f"{value:g}"
    words = label_of(value)
    return words if len(words) <= 14 else words[:13] + "\u2026"
