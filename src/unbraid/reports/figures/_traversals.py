"""Figures of factor and latent traversals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ._drawing import label_of, mosaic, new_figure, show_images
from ._summaries import FactorTraversals, LatentTraversals

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_factor_traversals(
    traversals: Sequence[FactorTraversals], *, n_columns: int = 3
) -> Figure:
    """Draw one panel per dataset, with one row per factor and one column per value.

    Args:
        traversals: Traversals from :func:`factor_traversals`, one per dataset.
        n_columns: Number of panels side by side.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.reports import factor_traversals
        >>> figure = draw_factor_traversals([factor_traversals(XYSquares())])
        >>> len(figure.axes)
        1
    """
    n_columns = min(n_columns, len(traversals))
    panels = [traversals[start::n_columns] for start in range(n_columns)]
    figure = new_figure((4.4 * n_columns, _height(panels)))
    grid = figure.add_gridspec(1, n_columns)
    for column, stack in enumerate(panels):
        heights = [len(item.factors) for item in stack]
        cells = grid[column].subgridspec(len(stack), 1, height_ratios=heights)
        for row, item in enumerate(stack):
            axes = figure.add_subplot(cells[row])
            canvas, centers = mosaic(item.images)
            show_images(axes, canvas)
            title = label_of(item.dataset)
            axes.set_title(title, fontsize=11, fontweight="bold", loc="left")
            axes.set_yticks(centers, map(label_of, item.factors), fontsize=8)
            if row == len(stack) - 1:
                axes.set_xlabel("value of the factor, from first to last", fontsize=8)
    return figure


def draw_latent_traversals(traversals: LatentTraversals) -> Figure:
    """Draw one panel per base image, with one row per latent and one column per value.

    The base image is at the top left of its panel.

    Args:
        traversals: Traversals from :func:`latent_traversals`.
    """
    n_bases, n_latents, n_values = traversals.images.shape[:3]
    figure = new_figure((0.5 * n_bases * (n_values + 1.5), 0.55 * n_latents + 0.6))
    for number in range(n_bases):
        axes = figure.add_subplot(1, n_bases, number + 1)
        original = traversals.originals[number]
        # Only the first row starts with the base image.
        rows = [
            [original if latent == 0 else None, *images]
            for latent, images in enumerate(traversals.images[number])
        ]
        canvas, centers = mosaic(rows)
        show_images(axes, canvas)
        labels = [
            f"z{latent} ({kl:.1f} {traversals.unit})"
            for latent, kl in zip(traversals.latents, traversals.kl, strict=True)
        ]
        axes.set_yticks(
            centers, labels if number == 0 else [""] * n_latents, fontsize=8
        )
        axes.set_title(f"image {number + 1}", fontsize=9, loc="left")
        low, high = traversals.values[[0, -1]]
        axes.set_xlabel(f"value of the latent, from {low:g} to {high:g}", fontsize=8)
    return figure


def _height(panels: Sequence[Sequence[FactorTraversals]]) -> float:
    rows = [sum(len(item.factors) + 1 for item in stack) for stack in panels]
    return 0.47 * max(rows)
