"""Figures of several scores side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from unbraid.reports.figures import label_of, new_figure, tidy

from ._scores_by_group import scores_by
from ._tables import group_means, groups_of, numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLORS = ("#33658a", "#c1666b", "#5b8e4d", "#8a6fa8")
_GRAY = "#8a8a8a"


def draw_score_panels(
    table: pd.DataFrame, by: str | Sequence[str], scores: Mapping[str, str]
) -> Figure:
    """Draw one panel per score, with a row per group, a dot per run and the mean.

    Args:
        table: Table of runs, one row per run.
        by: Column, or columns, whose values name the groups.
        scores: Names of the scores by their column; missing columns are skipped.
    """
    names = list(scores_by(table.assign(none=0.0), by, "none"))
    known = {score: name for score, name in scores.items() if score in table}
    figure = new_figure((2.6 + 2.7 * len(known), 0.9 + 0.28 * len(names)))
    panels = figure.subplots(1, len(known), sharey=True, squeeze=False)[0]
    for axes, (score, label) in zip(panels, known.items(), strict=True):
        groups = scores_by(table, by, score)
        for height, values in enumerate(groups.values()):
            level = np.full(len(values), height)
            axes.plot(values, level, "o", color=_COLORS[0], alpha=0.5, markersize=4)
            axes.plot([np.mean(values)], [height], "|", color="#111111", markersize=13)
        axes.set_xlabel(label_of(label), fontsize=9)
        tidy(axes)
    panels[0].set_yticks(range(len(names)), [label_of(name) for name in names])
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    return figure


def draw_trends(
    table: pd.DataFrame,
    along: str,
    by: str | Sequence[str],
    scores: Mapping[str, str],
    *,
    label: str,
) -> Figure:
    """Draw scores as a function of a number, with one panel per score.

    Args:
        table: Table of runs, one row per run.
        along: Column of the number.
        by: Column, or columns, whose values name the groups.
        scores: Names of the scores by their column; missing columns are skipped.
        label: Label of the number.
    """
    groups = groups_of(table, [by] if isinstance(by, str) else by)
    known = {score: name for score, name in scores.items() if score in table}
    figure = new_figure((3.6 * len(known) + 0.6, 3.2))
    panels = figure.subplots(1, len(known), squeeze=False)[0]
    positions = np.unique(numbers_of(table, along))
    for axes, (score, name) in zip(panels, known.items(), strict=True):
        for number, (group, runs) in enumerate(groups.items()):
            color = _COLORS[number % len(_COLORS)]
            # Side by side, so that dots of one group do not hide those of another.
            shift = (number - (len(groups) - 1) / 2) * 0.012 * np.ptp(positions)
            dots = numbers_of(runs, along) + shift, numbers_of(runs, score)
            axes.plot(*dots, "o", color=color, alpha=0.4, markersize=4)
            means = group_means(runs, along, score)
            axes.plot(
                list(means),
                list(means.values()),
                color=color,
                label=label_of(", ".join(map(str, group))),
            )
        axes.set(xlabel=label, ylabel=name, xticks=positions)
        axes.set_ylim(bottom=0.0)
        tidy(axes)
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=min(len(groups), 2),
        fontsize=8,
        frameon=False,
    )
    return figure


def draw_printed_and_measured(
    names: Sequence[str],
    printed: Mapping[str, ArrayLike],
    measured: Mapping[str, ArrayLike],
    *,
    label: str,
) -> Figure:
    """Draw printed numbers as rings and measured ones as dots, per table column.

    Args:
        names: Names of the rows.
        printed: Printed numbers of each column, one per row; NaN for missing ones.
        measured: Measured numbers of each column, one per row.
        label: Label of the numbers.
    """
    figure = new_figure((2.0 + 1.9 * len(printed), 1.1 + 0.24 * len(names)))
    panels = figure.subplots(1, len(printed), sharey=True, squeeze=False)[0]
    rows = np.arange(len(names))
    for axes, column in zip(panels, printed, strict=True):
        given, found = (np.asarray(each[column]) for each in (printed, measured))
        axes.hlines(rows, given, found, color=_GRAY, linewidth=1)
        axes.plot(given, rows, "o", mfc="none", color="#111111", label="printed")
        axes.plot(found, rows, "o", ms=4, color=_COLORS[0], label="measured")
        axes.set_title(label_of(column), fontsize=9)
        axes.set_xlabel(label, fontsize=8)
        axes.set_xlim(-0.05, 1.05)
        tidy(axes)
    panels[0].set_yticks(rows, [label_of(name) for name in names])
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    figure.legend(
        *panels[0].get_legend_handles_labels(),
        loc="outside upper center",
        ncols=2,
        fontsize=8,
        frameon=False,
    )
    return figure
