"""Scores of groups of runs, and line figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.reports.figures import label_of, new_figure, tidy

from ._tables import groups_of, numbers_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Characters of tick labels that fit next to each other below an axis.
_WIDEST = 70


def scores_by(
    table: pd.DataFrame, by: str | Sequence[str], score: str
) -> dict[str, NDArray[np.float64]]:
    """Return the scores of each group of runs, in order of first appearance.

    Args:
        table: Table of runs, one row per run.
        by: Column, or columns, whose values name the groups.
        score: Column of the score.

    Example:
        >>> losses, gaps = ["mse", "box", "mse"], [1.0, 3.0, 2.0]
        >>> scores_by(pd.DataFrame({"loss": losses, "mig": gaps}), "loss", "mig")
        {'mse': array([1., 2.]), 'box': array([3.])}
    """
    names = [by] if isinstance(by, str) else by
    return {
        ", ".join(map(str, key)): numbers_of(rows, score)
        for key, rows in groups_of(table, names).items()
    }


def draw_lines(
    positions: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    is_ordered: bool = True,
) -> Figure:
    """Draw lines over named positions.

    Args:
        positions: Names of the positions on the x axis.
        lines: Values of each line, one per position.
        x_label: Label of the x axis.
        y_label: Label of the y axis.
        is_ordered: Whether the positions have an order. If not, dots are not connected.
    """
    figure = new_figure((6.5, 3.6))
    axes = figure.subplots()
    for name, values in lines.items():
        axes.plot(
            range(len(positions)),
            values,
            marker="o",
            linestyle="-" if is_ordered else "",
            label=label_of(name),
        )
    axes.set_xticks(range(len(positions)), [label_of(name) for name in positions])
    if sum(map(len, positions)) > _WIDEST:
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend(fontsize=8, frameon=False)
    tidy(axes)
    return figure


def draw_factors(
    lines: Mapping[str, Mapping[str, Mapping[str, float]]], *, y_label: str
) -> Figure:
    """Draw dots over the factors of one or more datasets.

    Args:
        lines: Value of each factor, by the name of the line and of the dataset.
        y_label: Label of the y axis.
    """
    factors: dict[tuple[str, str], None] = {
        (dataset, factor): None
        for numbers in lines.values()
        for dataset, shares in numbers.items()
        for factor in shares
    }
    several = len({dataset for dataset, _ in factors}) > 1
    return draw_lines(
        [
            (f"{dataset}: {factor}" if several else factor).replace("_", " ")
            for dataset, factor in factors
        ],
        {
            name: [
                numbers.get(dataset, {}).get(factor, math.nan)
                for dataset, factor in factors
            ]
            for name, numbers in lines.items()
        },
        x_label="factor",
        is_ordered=False,
        y_label=y_label,
    )
