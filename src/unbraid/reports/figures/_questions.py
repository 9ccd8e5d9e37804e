"""Figures of rank correlations between scores, and of total correlation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unbraid.studies.analysis import RankCorrelation, TotalCorrelationByStrength

from ._drawing import label_of, new_figure, show_matrix, tidy
from ._frames import chosen_rows, is_equal, numbers, texts

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_rank_correlation(found: RankCorrelation, *, title: str = "") -> Figure:
    """Draw rank correlations in percent as a heat map.

    Args:
        found: Correlations from :mod:`unbraid.studies.analysis`, such as
            ``metric_agreement(table).pooled``.
        title: Title of the figure.
    """
    n_rows, n_columns = found.values.shape
    size = (2.2 + 0.5 * n_columns, 1.6 + 0.34 * n_rows)
    figure = new_figure(size)
    axes = figure.add_subplot()
    show_matrix(
        axes,
        100 * found.values.to_numpy(dtype=np.float64),
        rows=[str(name) for name in found.values.index],
        columns=[str(name) for name in found.values.columns],
        low=-100,
        high=100,
        colors="RdBu",
        number_format=".0f",
    )
    axes.set_aspect("auto")
    axes.set_title(title, fontsize=9, loc="left")
    axes.set_xlabel("score (cells: rank correlation in percent)", fontsize=8)
    return figure


def draw_total_correlation(found: TotalCorrelationByStrength) -> Figure:
    """Draw the total correlation of sampled codes and of mean codes by strength.

    Args:
        found: Total correlations from
            :func:`unbraid.studies.analysis.total_correlation_by_strength`.
    """
    from matplotlib.ticker import MaxNLocator

    figure = new_figure((7.6, 3))
    panels = figure.subplots(1, 2, sharey=True)
    datasets, methods = (texts(found.levels, name) for name in ("data", "method"))
    several = len(set(datasets)) > 1
    for axes, codes in zip(panels, ("sampled_codes", "mean_codes"), strict=True):
        for data, method in dict.fromkeys(zip(datasets, methods, strict=True)):
            own = is_equal(found.levels, "data", data)
            own &= is_equal(found.levels, "method", method)
            levels = chosen_rows(found.levels, own)
            axes.errorbar(
                numbers(levels, "strength_rank"),
                numbers(levels, codes),
                np.nan_to_num(numbers(levels, f"{codes}_spread")),
                label=label_of(f"{method}, {data}" if several else method),
                marker="o",
                markersize=3,
                linewidth=1.2,
                capsize=2,
            )
        axes.set_title(codes.replace("_", " "), fontsize=9, loc="left")
        axes.set_xlabel("strength, weakest first", fontsize=8)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(axes)
    panels[0].set_ylabel("total correlation (nats)", fontsize=8)
    panels[1].legend(
        fontsize=7, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5)
    )
    return figure
