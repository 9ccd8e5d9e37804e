"""Scores during training, with their best and last values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unbraid.training import ScoreCurve

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_COLORS = 10
_GRAY = "#8a8a8a"


def draw_score_curves(
    groups: Mapping[str, Sequence[ScoreCurve]], *, score: str = "score"
) -> Figure:
    """Draw scores over the steps of training.

    A filled circle marks the best value of a curve, and a square the last one.

    Args:
        groups: Curves by name. Curves of one group have the same color; groups after
            the tenth are gray. For a run, the curves of its scores; for a study, those
            of the seeds of each setting.
        score: Label of the vertical axis.

    Example:
        >>> from unbraid.training import score_curves
        >>> curves = score_curves([{"step": 10, "mig": 0.2}, {"step": 20, "mig": 0.1}])
        >>> figure = draw_score_curves({"seed 0": [curves["mig"]]}, score="mig")
        >>> figure.axes[0].get_ylabel()
        'mig'
    """
    if not any(groups.values()):
        raise ValueError("draw_score_curves needs at least one curve, got none.")
    figure = new_figure((4.6, 3.2))
    axes = figure.add_subplot()
    for number, (name, curves) in enumerate(groups.items()):
        is_named = number < _COLORS
        for position, curve in enumerate(curves):
            (line,) = axes.plot(
                curve.steps,
                curve.values,
                linewidth=1.2,
                color=f"C{number}" if is_named else _GRAY,
                label=label_of(name) if is_named and not position else None,
            )
            color = line.get_color()
            axes.plot(curve.best_step, curve.best, "o", markersize=5, color=color)
            axes.plot(
                curve.steps[-1],
                curve.last,
                "s",
                markersize=5,
                markerfacecolor="none",
                color=color,
            )
    axes.set_xlabel("step", fontsize=8)
    axes.set_ylabel(label_of(score), fontsize=8)
    axes.set_xlim(left=0)
    tidy(axes)
    axes.legend(
        fontsize=7,
        frameon=False,
        ncols=2,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.2),
    )
    return figure
