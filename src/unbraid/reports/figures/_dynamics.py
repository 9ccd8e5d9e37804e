"""Figure of the training dynamics of runs that differ in their seed."""

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
    """Draw the joint embedding of several runs, with one color per run.

    Where the colors mix, the runs learn in the same way. Points of later training steps
    are drawn larger.

    Args:
        embedding: Embedding from :func:`~unbraid.selection.training_dynamics`,
            ``(n_runs, n_slices, n_observations, 2)``.
        names: Names of the runs. Default: numbers from 1.
        max_points: Maximum number of points, drawn at random.

    Example:
        >>> figure = draw_joint_embedding(np.zeros((3, 4, 5, 2)))
        >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        ['1', '2', '3']

    References:
        Holtz, Mishne and Cloninger (2022), Figures 3d and 4b to 4d.
    """
    if embedding.ndim != 4 or embedding.shape[3] != 2:
        raise ValueError(
            "embedding must have shape (n_runs, n_slices, n_observations, 2), got "
            f"{embedding.shape}."
        )
    n_runs, n_slices = embedding.shape[:2]
    labels = list(names) or [str(number + 1) for number in range(n_runs)]
    if len(labels) != n_runs:
        raise ValueError(
            f"names must have one entry for each of the {n_runs} runs, got "
            f"{len(labels)}."
        )
    # Imported here because it is slow.
    from matplotlib import colormaps
    from matplotlib.lines import Line2D

    colors = colormaps["tab10" if n_runs <= 10 else "turbo"](
        np.arange(n_runs) if n_runs <= 10 else np.linspace(0, 1, n_runs)
    )
    indices = np.indices(embedding.shape[:3]).reshape(3, -1)
    # In random order, so that the last run does not hide the others.
    generator = numpy_generator(0, "joint embedding")
    order = generator.permutation(indices.shape[1])[:max_points]
    which, when, _ = indices[:, order]
    points = embedding.reshape(-1, 2)[order]
    figure = new_figure((5.5, 4.5))
    axes = figure.add_subplot()
    sizes = 2.0 + 10.0 * when / max(n_slices - 1, 1)
    # As pixels, because thousands of vector marks would make a page slow.
    axes.scatter(
        *points.T,
        c=colors[which],
        s=sizes,
        alpha=0.5,
        linewidths=0,
        rasterized=True,
    )
    handles = [
        Line2D([], [], marker="o", linestyle="", color=color, label=label_of(label))
        for color, label in zip(colors, labels, strict=True)
    ]
    axes.legend(
        handles=handles,
        title="run",
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
