"""Scatter plots of pairs of latents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator
from unbraid.representation import Representation

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class LatentScatter:
    """Codes of the latents with the largest variance.

    Attributes:
        latents: Indices of the latents, sorted by decreasing variance.
        codes: Codes of some images, ``(n_rows, n_latents)``.
        factor: Name of the factor shown as color; empty if there is none.
        values: Values of that factor, ``(n_rows,)``, or ``None``.
    """

    latents: tuple[int, ...]
    codes: NDArray[np.float64]
    factor: str
    values: NDArray[np.float64] | None


def latent_scatter(
    codes: Representation,
    *,
    n_latents: int = 4,
    factor: str | None = None,
    n_rows: int = 1_000,
    seed: int = 0,
) -> LatentScatter:
    """Select the latents with the largest variance, and a factor to color them by.

    Args:
        codes: Codes of images, from :func:`unbraid.encode`.
        n_latents: Number of latents.
        factor: Name of a factor. Default: the first factor, if there is one.
        n_rows: Maximum number of images, drawn at random.
        seed: Seed of the random images.

    Example:
        >>> codes = Representation(np.array([[0.0, 1.0, 0.0], [0.1, -1.0, 0.0]]))
        >>> latent_scatter(codes, n_latents=2).latents
        (1, 0)
    """
    order = np.argsort(-codes.codes.var(axis=0), kind="stable")[:n_latents]
    rows = np.arange(len(codes.codes))
    if len(rows) > n_rows:
        rows = numpy_generator(seed, "scatter").choice(rows, n_rows, replace=False)
    values, name = None, ""
    if codes.factors is not None:
        name = factor if factor is not None else codes.factor_names[0]
        if name not in codes.factor_names:
            raise ValueError(
                f"factor must be one of {', '.join(codes.factor_names)}, got {name!r}."
            )
        column = codes.factor_names.index(name)
        values = np.asarray(codes.factors[rows, column], dtype=np.float64)
    elif factor is not None:
        raise ValueError(
            f"Cannot color by {factor!r}: these codes come without factors."
        )
    return LatentScatter(
        latents=tuple(order.tolist()),
        codes=np.asarray(codes.codes[np.ix_(rows, order)], dtype=np.float64),
        factor=name,
        values=values,
    )


def draw_latent_scatter(scatter: LatentScatter) -> Figure:
    """Draw a scatter plot of every two latents, with histograms on the diagonal.

    Args:
        scatter: Codes from :func:`latent_scatter`.
    """
    n_latents = len(scatter.latents)
    figure = new_figure((1.4 * n_latents + 0.4, 1.3 * n_latents + 0.3), layout=None)
    # Automatic layout of so many panels would take seconds.
    figure.subplots_adjust(0.1, 0.1, 0.98, 0.98, wspace=0.35, hspace=0.25)
    points = None
    pairs = [(row, column) for row in range(n_latents) for column in range(row + 1)]
    for row, column in pairs:
        axes = figure.add_subplot(n_latents, n_latents, row * n_latents + column + 1)
        tidy(axes)
        axes.tick_params(labelsize=6)
        if row == column:
            axes.hist(scatter.codes[:, row], bins=30, color="#8a8a8a")
            axes.set_yticks([])
        else:
            # As pixels, because thousands of vector marks would make a page slow.
            points = axes.scatter(
                scatter.codes[:, column],
                scatter.codes[:, row],
                s=3,
                alpha=0.6,
                linewidths=0,
                rasterized=True,
                c=scatter.values,
                cmap=None if scatter.values is None else "viridis",
            )
        if column == 0:
            # The first panel is a histogram.
            name = f"z{scatter.latents[row]}" if row else "rows"
            axes.set_ylabel(name, fontsize=8)
        if row == n_latents - 1:
            axes.set_xlabel(f"z{scatter.latents[column]}", fontsize=8)
        else:
            axes.tick_params(labelbottom=False)
    if scatter.values is not None and points is not None:
        # In the corner without panels.
        corner = figure.add_axes((0.62, 0.9, 0.34, 0.02))
        bar = figure.colorbar(points, cax=corner, orientation="horizontal")
        bar.set_label(label_of(scatter.factor), fontsize=8)
        bar.ax.tick_params(labelsize=7)
    return figure
