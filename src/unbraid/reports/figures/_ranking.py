"""Figures of rankings with intervals, and of the agreement between models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator
from unbraid.selection import UDRScores
from unbraid.studies.analysis import setting_name

from ._drawing import label_of, new_figure, show_matrix, tidy
from ._frames import numbers, settings_of
from ._study import score_by_strength

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CONFIDENCE = 0.95
_DRAWS = 1_000
_COLORS = ("#3b6fb6", "#c47b2c", "#4c9a5f", "#9a5fb0", "#8a8a8a")


@dataclass(frozen=True)
class RankedSetting:
    """A setting in a ranking.

    Attributes:
        name: Name of the setting.
        score: Mean score.
        interval: 95% interval of the score over resampled seeds.
        group: 0 for the best setting and all that do not differ significantly from it,
            then 1, and so on.
        n_runs: Number of runs.
    """

    name: str
    score: float
    interval: tuple[float, float]
    group: int
    n_runs: int = 0


def rank_settings(
    table: pd.DataFrame, score: str, *, higher_is_better: bool = True, seed: int = 0
) -> tuple[RankedSetting, ...]:
    """Rank the settings of a study by their mean score.

    The 95% intervals come from drawing the runs of every setting with replacement. A
    setting joins the group before it unless the first of that group is better in at
    least 95% of the draws.

    Args:
        table: One row per run, from :func:`unbraid.studies.study_table`.
        score: Column that holds the score.
        higher_is_better: Whether the highest score comes first.
        seed: Seed of the draws.

    Example:
        >>> table = pd.DataFrame({
        ...     "objective.name": ["vae"] * 2 + ["ae"] * 2, "seed": [0, 1, 0, 1],
        ...     "score.mig": [0.1, 0.2, 0.7, 0.8],
        ... })
        >>> [(each.name, each.group) for each in rank_settings(table, "score.mig")]
        [('ae', 0), ('vae', 1)]
    """
    runs = score_by_strength(table, score)
    generator = numpy_generator(seed, "ranked settings")
    sign = 1.0 if higher_is_better else -1.0
    scored = []
    for method, strength, part in settings_of(runs):
        values = numbers(part, "value")
        drawn = generator.integers(len(values), size=(_DRAWS, len(values)))
        name = setting_name(method, strength)
        scored.append((name, values, values[drawn].mean(axis=1)))
    scored.sort(key=lambda item: -sign * item[1].mean())
    ranked, group, leader = [], 0, None
    for name, values, draws in scored:
        if leader is None:
            leader = draws
        elif np.mean(sign * leader > sign * draws) >= _CONFIDENCE:
            group, leader = group + 1, draws
        low, high = np.quantile(draws, (0.025, 0.975))
        interval = (float(low), float(high))
        mean = float(values.mean())
        ranked.append(RankedSetting(name, mean, interval, group, len(values)))
    return tuple(ranked)


def draw_ranking(
    settings: Sequence[RankedSetting], *, score: str = "score", most: int = 40
) -> Figure:
    """Draw scores with intervals, the best first, with one color per group.

    Args:
        settings: Settings in order, from :func:`rank_settings`.
        score: Name of the score.
        most: Maximum number of settings to draw.
    """
    shown = settings[:most]
    figure = new_figure((6.4, 0.24 * len(shown) + 0.8))
    axes = figure.add_subplot()
    for row, setting in enumerate(shown):
        color = _COLORS[min(setting.group, len(_COLORS) - 1)]
        axes.plot(setting.interval, (row, row), color=color, linewidth=1.6)
        axes.plot(setting.score, row, "o", color=color, markersize=5)
    axes.set_yticks(range(len(shown)), [label_of(setting.name) for setting in shown])
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlabel(f"{label_of(score)}, with 95% interval", fontsize=8)
    axes.grid(axis="x", linewidth=0.4, alpha=0.5)
    axes.set_axisbelow(True)
    tidy(axes)
    return figure


def draw_agreement(
    agreement: UDRScores | NDArray[np.floating],
    *,
    names: Sequence[str] = (),
    groups: Sequence[str] = (),
) -> Figure:
    """Draw the agreement between every two models.

    Args:
        agreement: Scores from
            :func:`unbraid.selection.unsupervised_disentanglement_ranking`, or their
            ``pairs``, ``(n_models, n_models)``.
        names: Names of the models. Default: those in the scores.
        groups: Configuration of each model. Models of one configuration are drawn next
            to each other, labeled with its name.
    """
    if isinstance(agreement, UDRScores):
        pairs, names = agreement.pairs, names or agreement.names
    else:
        pairs = agreement
    if pairs.ndim != 2 or pairs.shape[0] != pairs.shape[1]:
        raise ValueError(
            f"agreement must have shape (n_models, n_models), got {pairs.shape}."
        )
    members = _find_members(groups)
    order = [row for rows in members.values() for row in rows] or range(len(pairs))
    ordered = np.asarray(pairs, dtype=np.float64)[np.ix_(order, order)]
    side = float(np.clip(0.22 * len(pairs), 2.2, 5.5))
    figure = new_figure((side + 2.4, side + 0.4))
    axes = figure.add_subplot()
    image = show_matrix(axes, ordered, low=0.0, high=1.0, colors="viridis")
    edges = np.cumsum([0, *(len(rows) for rows in members.values())])
    if members:
        axes.set_yticks(
            (edges[1:] + edges[:-1]) / 2 - 0.5, [label_of(name) for name in members]
        )
    elif len(names) == len(pairs) <= 40:
        axes.set_yticks(range(len(pairs)), [label_of(names[row]) for row in order])
    for edge in edges[1:-1]:
        axes.axhline(edge - 0.5, color="#8a8a8a", linewidth=0.5)
        axes.axvline(edge - 0.5, color="#8a8a8a", linewidth=0.5)
    axes.set_xlabel("model, in the same order", fontsize=8)
    axes.set_ylabel("configuration" if members else "model", fontsize=8)
    bar = figure.colorbar(image, ax=axes, shrink=0.7, pad=0.02)
    bar.set_label("agreement (UDR)", fontsize=8)
    bar.ax.tick_params(labelsize=7)
    return figure


def _find_members(groups: Sequence[str]) -> Mapping[str, list[int]]:
    members: dict[str, list[int]] = {}
    for row, name in enumerate(groups):
        members.setdefault(name, []).append(row)
    return members
