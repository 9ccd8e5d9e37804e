"""Figures of training dynamics: runs in a common space, and one run by M-PHATE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.foundation import check_shape, numpy_generator

from ._drawing import label_of, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_joint_embedding(
    embedding: NDArray[np.floating],
    *,
    names: Sequence[str] = (),
    values: ArrayLike | None = None,
    label: str = "value",
    max_points: int = 20_000,
) -> Figure:
    """Draw the joint embedding of several runs.

    With one color per run, runs learn in the same way where the colors mix. With one
    color per value of an observation, the runs agree on the observations where the
    colors are in order. Points of later training steps are drawn larger.

    Args:
        embedding: Embedding from :func:`~unbraid.selection.training_dynamics`,
            ``(n_runs, n_slices, n_observations, 2)``.
        names: Names of the runs. Default: numbers from 1.
        values: A number for each observation, ``(n_observations,)``, which decides the
            color instead of the run.
        label: Name of the values.
        max_points: Maximum number of points, drawn at random.

    Example:
        >>> figure = draw_joint_embedding(np.zeros((3, 4, 5, 2)))
        >>> [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
        ['1', '2', '3']

    References:
        Holtz, Mishne and Cloninger (2022), Figures 3d and 4b to 4d.
    """
    check_shape("embedding", embedding, ("n_runs", "n_slices", "n_observations", 2))
    n_runs, n_slices, n_observations, _ = embedding.shape
    labels = list(names) or [str(number + 1) for number in range(n_runs)]
    if len(labels) != n_runs:
        raise ValueError(
            f"names must have one entry for each of the {n_runs} runs, got "
            f"{len(labels)}."
        )
    figure = new_figure((5.5, 4.5))
    axes = figure.add_subplot()
    indices = np.indices(embedding.shape[:3]).reshape(3, -1)
    # In random order, so that the last run does not hide the others.
    generator = numpy_generator(0, "joint embedding")
    order = generator.permutation(indices.shape[1])[:max_points]
    which, when, observation = indices[:, order]
    points = embedding.reshape(-1, 2)[order]
    sizes = 2.0 + 10.0 * when / max(n_slices - 1, 1)
    if values is not None:
        colors = _read_values(values, n_observations)[observation]
        _scatter(figure, axes, points, colors, sizes, label)
        return figure
    colors = _run_colors(n_runs)
    _scatter(figure, axes, points, colors[which], sizes)
    # Imported here because it is slow.
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], marker="o", linestyle="", color=color, label=label_of(name))
        for color, name in zip(colors, labels, strict=True)
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
    return figure


def draw_trace_embedding(
    embedding: NDArray[np.floating],
    *,
    steps: ArrayLike | None = None,
    values: ArrayLike | None = None,
    label: str = "value",
) -> Figure:
    """Draw how one network learned: every observation at every recorded step.

    One panel is colored by the training step, and another one by a value of the
    observations, if values are given.

    Args:
        embedding: Coordinates, such as ``vectors`` of
            :func:`~unbraid.geometry.potential_embedding` (M-PHATE), ``(n_slices,
            n_observations, 2)``.
        steps: Training step of each slice, ``(n_slices,)``. Default: numbers from 0.
        values: A number for each observation, ``(n_observations,)``.
        label: Name of the values.

    Example:
        >>> figure = draw_trace_embedding(np.zeros((4, 5, 2)), values=range(5))
        >>> len(figure.axes)  # two panels and their color bars
        4

    References:
        Gigante, Charles, Krishnaswamy and Mishne (2019), Visualizing the PHATE of
        Neural Networks, Figure 1. Holtz, Mishne and Cloninger (2022), Figure 3.
    """
    check_shape("embedding", embedding, ("n_slices", "n_observations", 2))
    n_slices, n_observations, _ = embedding.shape
    when, observation = np.indices(embedding.shape[:2]).reshape(2, -1)
    times = np.arange(n_slices) if steps is None else np.asarray(steps)
    check_shape("steps", times, (n_slices,))
    panels = [("training step", times[when])]
    if values is not None:
        panels.append((label, _read_values(values, n_observations)[observation]))
    figure = new_figure((4.6 * len(panels), 3.8))
    for axes, (name, colors) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        sizes = 4.0 + 10.0 * when / max(n_slices - 1, 1)
        _scatter(figure, axes, embedding.reshape(-1, 2), colors, sizes, name)
    return figure


def _read_values(values: ArrayLike, n_observations: int) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    check_shape("values", numbers, (n_observations,))
    return numbers


def _run_colors(n_runs: int) -> NDArray[np.float64]:
    from matplotlib import colormaps

    if n_runs <= 10:
        return np.asarray(colormaps["tab10"](np.arange(n_runs)))
    return np.asarray(colormaps["turbo"](np.linspace(0, 1, n_runs)))


def _scatter(
    figure: Figure,
    axes: Axes,
    points: NDArray[np.floating],
    colors: NDArray[Any],
    sizes: NDArray[np.float64],
    label: str = "",
) -> None:
    """Draw points in two coordinates, with a color bar if there is a label."""
    # As pixels, because thousands of vector marks would make a page slow.
    marks = axes.scatter(
        *points.T, c=colors, s=sizes, alpha=0.5, linewidths=0, rasterized=True
    )
    if label:
        bar = figure.colorbar(marks, ax=axes, label=label_of(label))
        bar.ax.tick_params(labelsize=8)
    axes.set_xlabel("first coordinate", fontsize=9)
    axes.set_ylabel("second coordinate", fontsize=9)
    axes.tick_params(labelsize=8)
    axes.spines[["top", "right"]].set_visible(False)
