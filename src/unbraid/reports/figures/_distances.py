"""Distances along factors as tables in colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbraid.perception import DistanceMatrices

from ._drawing import label_of, new_figure, show_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_distance_matrices(found: DistanceMatrices) -> Figure:
    """One row per factor, one column per level; each table in its own colours.

    Args:
        found: What to draw, from :func:`unbraid.geometry.distance_matrices`.
    """
    n_rows, n_columns = len(found.factors), len(found.levels)
    figure = new_figure((1.15 * n_columns + 0.4, 1.1 * n_rows + 0.3))
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for column, level in enumerate(found.levels):
        grid[0, column].set_title(level, fontsize=9)
        for row, table in enumerate(found.matrices[level]):
            high = max(float(table.max()), 1e-12)
            show_matrix(grid[row, column], table, low=0.0, high=high, colours="magma")
    for row, factor in enumerate(found.factors):
        grid[row, 0].set_ylabel(label_of(factor), fontsize=8)
    return figure
