"""Scores of runs, group by group: for comparing, and as a figure."""

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


# Letters of all names that fit beside each other below an axis.
_WIDEST = 70


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
    names = [by] if isinstance(by, str) else by
    return {
        ", ".join(map(str, key)): numbers_of(rows, score)
        for key, rows in groups_of(table, names).items()
    }


def draw_lines(
    places: Sequence[str],
    lines: Mapping[str, Sequence[float]],
    *,
    across: str,
    up: str,
    is_ordered: bool = True,
) -> Figure:
    """Lines through numbers at named places.

    Args:
        places: Names along the axis.
        lines: Numbers at each place, by the name of the line.
        across: What the places are.
        up: What the numbers are.
        is_ordered: Whether one place comes after another; otherwise dots are not
            joined.
    """
    figure = new_figure((6.5, 3.6))
    axes = figure.subplots()
    for name, values in lines.items():
        axes.plot(
            range(len(places)),
            values,
            marker="o",
            linestyle="-" if is_ordered else "",
            label=label_of(name),
        )
    axes.set_xticks(range(len(places)), [label_of(place) for place in places])
    if sum(map(len, places)) > _WIDEST:
        for text in axes.get_xticklabels():
            text.set(rotation=40, ha="right", rotation_mode="anchor")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.legend(fontsize=8, frameon=False)
    tidy(axes)
    return figure


def draw_factors(
    lines: Mapping[str, Mapping[str, Mapping[str, float]]], *, up: str
) -> Figure:
    """Dots at the factors of one dataset or several.

    Args:
        lines: By the name of the line and of the dataset: a number for each factor.
        up: What the numbers are.
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
        across="factor",
        is_ordered=False,
        up=up,
    )
