"""Scores of runs, group by group: for comparing, and as a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.reports._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def scores_by(
    table: pd.DataFrame, by: str | Sequence[str], score: str
) -> dict[str, NDArray[np.float64]]:
    """Scores of each group of runs, in the order in which groups first appear.

    Args:
        table: One row per run.
        by: A column, or several, whose values name the groups.
        score: Column of the score.

    Example:
        >>> losses, gaps = ["mse", "box", "mse"], [1.0, 3.0, 2.0]
        >>> scores_by(pd.DataFrame({"loss": losses, "mig": gaps}), "loss", "mig")
        {'mse': array([1., 2.]), 'box': array([3.])}
    """
    names = [by] if isinstance(by, str) else list(by)
    keys = table[names].astype(str).agg(", ".join, axis=1).to_numpy()
    values = table[score].to_numpy(dtype=np.float64)
    return {key: values[keys == key] for key in dict.fromkeys(keys)}


def draw_scores_by_group(
    table: pd.DataFrame, by: str | Sequence[str], score: str, *, label: str
) -> Figure:
    """A row per group, a dot per run, a line at the mean.

    Args:
        table: One row per run.
        by: A column, or several, whose values name the groups.
        score: Column of the score.
        label: What the score is called in the figure.
    """
    groups = scores_by(table, by, score)
    figure = new_figure((7.5, 1.0 + 0.32 * len(groups)))
    axes = figure.subplots()
    for height, values in enumerate(groups.values()):
        level = np.full(len(values), height)
        axes.plot(values, level, "o", color="#33658a", alpha=0.5, markersize=5)
        axes.plot([np.mean(values)], [height], "|", color="#111111", markersize=16)
    axes.set_yticks(range(len(groups)), [label_of(name) for name in groups])
    axes.invert_yaxis()
    axes.set_xlabel(label)
    tidy(axes)
    return figure


def draw_lines(
    places: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    *,
    across: str,
    up: str,
) -> Figure:
    """Lines through numbers at named places.

    Args:
        places: Names along the axis.
        lines: Numbers at each place, by the name of the line.
        across: What the places are.
        up: What the numbers are.
    """
    figure = new_figure((6.5, 3.6))
    axes = figure.subplots()
    for name, values in lines.items():
        axes.plot(range(len(places)), values, marker="o", label=label_of(name))
    axes.set_xticks(range(len(places)), [label_of(place) for place in places])
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend(fontsize=8, frameon=False)
    tidy(axes)
    return figure
