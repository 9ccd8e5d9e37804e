"""Codes two latents at a time: where they depend, and what they follow."""

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
    """Codes of some latents.

    Attributes:
        latents: Numbers of the latents, those that vary most first.
        codes: One row per image, ``(n_rows, n_latents)``.
        factor: Name of the factor that gives the colour, or empty.
        values: Its values, ``(n_rows,)``, or ``None``.
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
    """The latents whose means vary most, and a factor to colour them by.

    Args:
        codes: Of images, from :func:`unbraid.encode`.
        n_latents: How many latents.
        factor: Name of a factor; the first one when not given, if there is one.
        n_rows: Of more images, so many random ones.
        seed: Of which ones.

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
                f"latent_scatter: expected a factor among "
                f"{', '.join(codes.factor_names)}, got {name!r}."
            )
        place = codes.factor_names.index(name)
        values = np.asarray(codes.factors[rows, place], dtype=np.float64)
    elif factor is not None:
        raise ValueError(
            f"latent_scatter: expected codes with factors, got none, and {factor!r}."
        )
    return LatentScatter(
        latents=tuple(order.tolist()),
        codes=np.asarray(codes.codes[np.ix_(rows, order)], dtype=np.float64),
        factor=name,
        values=values,
    )


def draw_latent_scatter(found: LatentScatter) -> Figure:
    """A panel for every two latents, with how often values occur on the diagonal.

    Args:
        found: What to draw, from :func:`latent_scatter`.
    """
    n_latents = len(found.latents)
    figure = new_figure((1.4 * n_latents + 0.4, 1.3 * n_latents + 0.3), layout=None)
    # By hand: to arrange so many panels takes matplotlib seconds.
    figure.subplots_adjust(0.1, 0.1, 0.98, 0.98, wspace=0.35, hspace=0.25)
    points = None
    pairs = [(row, column) for row in range(n_latents) for column in range(row + 1)]
    for row, column in pairs:
        axes = figure.add_subplot(n_latents, n_latents, row * n_latents + column + 1)
        tidy(axes)
        axes.tick_params(labelsize=6)
        if row == column:
            axes.hist(found.codes[:, row], bins=30, color="#8a8a8a")
            axes.set_yticks([])
        else:
            # Points as one picture: thousands of marks would make a page heavy.
            points = axes.scatter(
                found.codes[:, column],
                found.codes[:, row],
                s=3,
                alpha=0.6,
                linewidths=0,
                rasterized=True,
                c=found.values,
                cmap=None if found.values is None else "viridis",
            )
        if column == 0:
            axes.set_ylabel(f"z{found.latents[row]}", fontsize=8)
        if row == n_latents - 1:
            axes.set_xlabel(f"z{found.latents[column]}", fontsize=8)
        else:
            axes.tick_params(labelbottom=False)
    if found.values is not None and points is not None:
        # In the corner where there are no panels.
        place = figure.add_axes((0.62, 0.9, 0.34, 0.02))
        bar = figure.colorbar(points, cax=place, orientation="horizontal")
        bar.set_label(label_of(found.factor), fontsize=8)
        bar.ax.tick_params(labelsize=7)
    return figure
