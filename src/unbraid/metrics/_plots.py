"""Figures of scores: one representation, or several side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from unbraid.foundation import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#e7298a", "#666666")
_GRAY = "#888888"
_LEVEL: dict[str, Any] = {"color": _GRAY, "markersize": 7, "markerfacecolor": "none"}

Interval = tuple[float, float]


@dataclass(frozen=True)
class Dot:
    """A number in a figure, with its interval if it has one."""

    value: float
    interval: Interval | None = None


@dataclass(frozen=True)
class Row:
    """One score in a figure.

    Attributes:
        name: Name of the score.
        dots: The score of each representation that has one, by label.
        levels: Chance and ideal level by name, where they are known.
        differences: Differences from the first representation, by label.
    """

    name: str
    dots: Mapping[str, Dot]
    levels: Mapping[str, float] = field(default_factory=dict)
    differences: Mapping[str, Dot] = field(default_factory=dict)

    @property
    def is_share(self) -> bool:
        """Whether the score can share an axis from 0 to 1 with others."""
        values = [*(dot.value for dot in self.dots.values()), *self.levels.values()]
        return all(-1.0 <= value <= 1.0 for value in values)


def draw_scores(rows: Sequence[Row], *, title: str = "") -> Figure:
    """Draw each score as a dot with its interval, chance and ideal level.

    Args:
        rows: Scores. A score that is not between -1 and 1, such as a number of latents,
            has its own panel.
        title: Line above the figure.
    """
    panels = _panels(rows)
    figure, grid = _new_grid(panels, n_columns=1)
    for (axes,), panel in zip(grid, panels, strict=True):
        for y, row in enumerate(panel):
            for name, marker in (("chance", "x"), ("ideal", "D")):
                if name in row.levels:
                    axes.plot(row.levels[name], y, marker, **_LEVEL)
            _draw_dots(axes, y, row.dots, _COLORS[:1])
        _finish(axes, panel)
    grid[-1][0].set_xlabel("score", fontsize=9)
    marks = {"score, interval": ("o", _COLORS[0])}
    marks |= {"chance": ("x", _GRAY), "ideal": ("D", _GRAY)}
    _add_legend(figure, marks)
    figure.suptitle(title.replace("$", r"\$"), fontsize=9)
    return figure


def draw_comparison(rows: Sequence[Row], labels: Sequence[str]) -> Figure:
    """Draw scores of several representations, and differences from the first one.

    Args:
        rows: Scores.
        labels: Names of the representations, the baseline first.
    """
    panels = _panels(rows)
    figure, grid = _new_grid(panels, n_columns=2)
    colors = [_COLORS[i % len(_COLORS)] for i in range(len(labels))]
    for (left, right), panel in zip(grid, panels, strict=True):
        for y, row in enumerate(panel):
            _draw_dots(left, y, {n: row.dots.get(n) for n in labels}, colors)
            others = {name: row.differences.get(name) for name in labels[1:]}
            _draw_dots(right, y, others, colors[1:])
        _finish(left, panel)
        _finish(right, panel, are_differences=True)
    grid[-1][0].set_xlabel("score", fontsize=9)
    text = f"difference from {label_of(labels[0])}, paired interval"
    grid[-1][1].set_xlabel(text, fontsize=9)
    pairs = zip(labels, colors, strict=True)
    _add_legend(figure, {label_of(name): ("o", color) for name, color in pairs})
    return figure


def _panels(rows: Sequence[Row]) -> list[list[Row]]:
    """Return panels: one with all shares, and one for every other score."""
    if not rows:
        raise ValueError("There are no scores to plot.")
    shares = [row for row in rows if row.is_share]
    others = [[row] for row in rows if not row.is_share]
    return [shares, *others] if shares else others


def _new_grid(
    panels: Sequence[Sequence[Row]], *, n_columns: int
) -> tuple[Figure, list[list[Axes]]]:
    heights = [0.28 * len(panel) + 0.25 for panel in panels]
    figure = new_figure((4.4 + 2.6 * n_columns, sum(heights) + 1.0))
    grid = figure.subplots(len(panels), n_columns, squeeze=False, height_ratios=heights)
    return figure, [list(line) for line in grid]


def _draw_dots(
    axes: Axes, y: int, dots: Mapping[str, Dot | None], colors: Sequence[str]
) -> None:
    """Draw the dots of one row below each other, so that none hides another."""
    step = 0.6 / max(len(dots), 3)
    for i, (dot, color) in enumerate(zip(dots.values(), colors, strict=True)):
        if dot is None:
            continue
        height = y + step * (i - (len(dots) - 1) / 2)
        if dot.interval is not None:
            axes.plot(dot.interval, (height, height), "-", color=color, linewidth=1.5)
        axes.plot(dot.value, height, "o", color=color, markersize=4.5)


def _finish(axes: Axes, rows: Sequence[Row], *, are_differences: bool = False) -> None:
    names = [] if are_differences else [label_of(row.name) for row in rows]
    axes.set_yticks(range(len(rows)) if names else [], names)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    tidy(axes)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.margins(x=0.05)
    if are_differences:
        axes.axvline(0.0, color=_GRAY, linewidth=1.0)
    elif all(row.is_share for row in rows):
        low = min(axes.get_xlim()[0], -0.02)
        axes.set_xlim(low, max(axes.get_xlim()[1], 1.02))


def _add_legend(figure: Figure, marks: Mapping[str, tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    handles: Iterable[Line2D] = [
        Line2D(
            [], [], linestyle="", marker=marker, color=color, markersize=5, label=name
        )
        for name, (marker, color) in marks.items()
    ]
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=4, frameon=False,
        fontsize=8,
    )  # fmt: skip
