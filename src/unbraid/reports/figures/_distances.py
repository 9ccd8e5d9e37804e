"""Heat maps of distances along factors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unbraid.perception import DistanceMatrices

from ._drawing import label_of, new_figure, show_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_distance_matrices(distances: DistanceMatrices) -> Figure:
    """Draw one row per factor and one column per level, each with its own color scale.

    Args:
        distances: Distances from :func:`unbraid.geometry.distance_matrices`.
    """
    n_rows, n_columns = len(distances.factors), len(distances.levels)
    figure = new_figure((1.15 * n_columns + 0.4, 1.1 * n_rows + 0.3))
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for column, level in enumerate(distances.levels):
        grid[0, column].set_title(level, fontsize=9)
        for row, table in enumerate(distances.matrices[level]):
            high = max(float(table.max()), 1e-12)
            show_matrix(grid[row, column], table, low=0.0, high=high, colors="magma")
    for row, factor in enumerate(distances.factors):
        grid[row, 0].set_ylabel(label_of(factor), fontsize=8)
    figure.supxlabel("value of the factor", fontsize=8)
    return figure
