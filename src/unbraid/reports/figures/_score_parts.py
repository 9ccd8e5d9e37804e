"""Figure of the label-free scores of models, and what each contributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unbraid.selection import SCORE_NAMES

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unbraid.selection import Ranked

_COLORS = (
    *("#3b6fb6", "#c47b2c", "#4c9a5f", "#9a5fb0"),
    *("#b04a5a", "#5aa6b0", "#8a8a8a", "#c9b037"),
)


def draw_score_parts(
    models: Sequence[Ranked], *, chosen: str | None = None, most: int = 30
) -> Figure:
    """Draw the score of each model as a bar that consists of its parts.

    Args:
        models: Models in the order of a ranking; see
            :attr:`unbraid.selection.Ranking.models`.
        chosen: Name of the chosen model, which is drawn in bold.
        most: Maximum number of models to draw.

    Raises:
        ValueError: If there are no models, or no parts of their scores.
    """
    if not models or not models[0].parts:
        raise ValueError(
            "draw_score_parts needs models with the parts of their scores. Rank them "
            "with rank_models, and give its models."
        )
    shown = models[:most]
    figure = new_figure((6.8, 0.24 * len(shown) + 1.1))
    axes = figure.add_subplot()
    rows, left = range(len(shown)), np.zeros(len(shown))
    for number, name in enumerate(shown[0].parts):
        widths = np.array([model.parts[name] for model in shown])
        axes.barh(
            rows,
            widths,
            left=left,
            height=0.7,
            color=_COLORS[number % len(_COLORS)],
            label=SCORE_NAMES.get(name, label_of(name)),
        )
        left += widths
    for row, model in enumerate(shown):
        axes.plot(model.interval, (row, row), color="#333333", linewidth=1.0)
    axes.set_yticks(rows, [label_of(model.name) for model in shown])
    for model, label in zip(shown, axes.get_yticklabels(), strict=True):
        if model.name == chosen:
            label.set_fontweight("bold")
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.set_xlim(0, 1)
    axes.set_xlabel("score and its parts, with 95% interval", fontsize=8)
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=2,
        fontsize=7,
        frameon=False,
    )
    tidy(axes)
    return figure
