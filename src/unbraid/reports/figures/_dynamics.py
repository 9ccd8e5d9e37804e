"""Drawing how networks of one specification learn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._drawing import label_of, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_joint_embedding(
    embedding: NDArray[np.floating],
    *,
    names: Sequence[str] = (),
    max_points: int = 20_000,
) -> Figure:
    """All observations at all slices, one colour per realisation.

    Where the colours mix, the realisations learn in the same way; where they part, some
    of them do not. Later slices are drawn larger.

    Args:
        embedding: Shape ``(n_realisations, n_slices, n_observations, 2)``, from
            :func:`~unbraid.selection.training_dynamics`.
        names: Of the realisations; numbers from 1 if not given.
        max_points: Of more points, so many random ones are drawn.

    Example:
        >>> figure = draw_joint_embedding(np.zeros((3, 4, 5, 2)))
        >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        ['1', '2', '3']

    References:
        Holtz, Mishne and Cloninger (2022), Figures 3d and 4b to 4d.
    """
    if embedding.ndim != 4 or embedding.shape[3] != 2:
        raise ValueError(
            "draw_joint_embedding: expected an embedding (n_realisations, n_slices, "
            f"n_observations, 2), got shape {embedding.shape}."
        )
    n_realisations, n_slices = embedding.shape[:2]
    labels = list(names) or [str(number + 1) for number in range(n_realisations)]
    if len(labels) != n_realisations:
        raise ValueError(
            f"draw_joint_embedding: expected {n_realisations} names, got {len(labels)}."
        )
    # Imported here so that only those who draw pay for it.
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    colours = colormaps["tab10" if n_realisations <= 10 else "turbo"](
        np.arange(n_realisations)
        if n_realisations <= 10
        else np.linspace(0, 1, n_realisations)
    )
    places = np.indices(embedding.shape[:3]).reshape(3, -1)
    # In random order, or the last realisation would hide the others.
    generator = numpy_generator(0, "joint embedding")
    order = generator.permutation(places.shape[1])[:max_points]
    which, when, _ = places[:, order]
    points = embedding.reshape(-1, 2)[order]
    figure = new_figure((5.5, 4.5))
    axes = figure.add_subplot()
    sizes = 2.0 + 10.0 * when / max(n_slices - 1, 1)
    # Points as one picture: thousands of marks would make a page heavy.
    axes.scatter(
        *points.T,
        c=colours[which],
        s=sizes,
        alpha=0.5,
        linewidths=0,
        rasterized=True,
    )
    handles = [
        Line2D([], [], marker="o", linestyle="", color=colour, label=label_of(label))
        for colour, label in zip(colours, labels, strict=True)
    ]
    axes.legend(
        handles=handles,
        title="realisation",
        fontsize=8,
        title_fontsize=8,
        frameon=False,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
    )
    axes.set_xlabel("first coordinate", fontsize=9)
    axes.set_ylabel("second coordinate", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
