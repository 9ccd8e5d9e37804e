"""Default figure of a claim: measured values and claimed ranges."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from unbraid.reports.figures import label_of, new_figure, tidy

from ._finding import Check, Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS: dict[Verdict, str] = {
    "holds": "#2a7f4f",
    "cannot be told": "#8a8a8a",
    "does not hold": "#b3402f",
}


def draw_checks(checks: Sequence[Check]) -> Figure:
    """Draw one row per check: its interval, with the claimed range shaded.

    Args:
        checks: Checks of a claim, at least one.
    """
    figure = new_figure((7.5, 0.9 + 0.75 * len(checks)))
    panels = figure.subplots(len(checks), 1, squeeze=False)[:, 0]
    for axes, check in zip(panels, checks, strict=True):
        ends = [check.value, *(check.interval or ()), check.least, check.most]
        known = [end for end in ends if math.isfinite(end)]
        reach = (max(known) - min(known) or 1.0) * 0.25
        low, high = min(known) - reach, max(known) + reach
        axes.set_xlim(low, high)
        shaded = max(check.least, low), min(check.most, high)
        axes.axvspan(*shaded, color="#2a7f4f", alpha=0.12, linewidth=0)
        color = COLORS[check.verdict]
        if check.interval:
            ends = [min(max(end, low), high) for end in check.interval]
            axes.plot(ends, [0, 0], color=color, linewidth=2.5)
        if math.isfinite(check.value):
            axes.plot([check.value], [0], "o", color=color, markersize=6)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        name = "\n".join(
            label_of(line) for line in textwrap.wrap(check.quantity, width=34)
        )
        axes.set_ylabel(
            name, rotation=0, ha="right", va="center", fontsize=8, labelpad=8
        )
        tidy(axes)
    return figure
