"""Figures of populations: lineage, hyperparameters and image reduction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from unbraid.evolution import LatentSteps, Lineage, Reduced

_PLAIN, _BEST, _LIGHT = "#8899aa", "#c0392b", "#d5dce3"
_MOST_POINTS = 4_000
"""Maximum number of points of a curve."""


def lineage_table(lineage: Lineage) -> pd.DataFrame:
    """Return a table with one row per member and generation.

    It has parent, score, steps and hyperparameters of each member.

    Args:
        lineage: Lineage of a population.
    """
    rows = [
        {
            "generation": number,
            "member": member.index,
            "parent": member.parent,
            "score": member.score,
            "steps": member.steps,
            **member.hyperparameters,
            "failure": member.failure,
        }
        for number, members in enumerate(lineage.generations)
        for member in members
    ]
    return pd.DataFrame(rows).astype({"parent": "Int64"})


def draw_lineage(lineage: Lineage) -> Figure:
    """Draw the family tree of a population, with one column per generation.

    Colors are scores, crosses are members that failed, and the ancestors of the winner
    are connected in red.

    Args:
        lineage: Lineage with at least one generation.
    """
    from matplotlib.ticker import MaxNLocator

    n_generations = len(lineage.generations)
    n_members = max(len(members) for members in lineage.generations)
    size = (1.6 + 0.45 * n_generations, 1.1 + 0.2 * n_members)
    figure = new_figure((max(min(size[0], 12), 4), max(min(size[1], 9), 2.2)))
    axes = figure.subplots()
    ancestors = _find_ancestors(lineage)
    for number, members in enumerate(lineage.generations):
        for member in members:
            if member.parent is None:
                continue
            is_best = (number, member.index) in ancestors
            axes.plot(
                [number - 1, number],
                [member.parent, member.index],
                color=_BEST if is_best else _LIGHT,
                linewidth=2 if is_best else 1,
                zorder=2 if is_best else 1,
            )
    table = lineage_table(lineage)
    alive = table[table["score"].notna()]
    points = axes.scatter(
        alive["generation"],
        alive["member"],
        c=alive["score"].astype(float),
        cmap="viridis",
        s=28,
        zorder=3,
    )
    failed = table[table["score"].isna()]
    axes.scatter(
        failed["generation"], failed["member"], marker="x", color=_PLAIN, zorder=3
    )
    figure.colorbar(points, ax=axes, label="score")
    axes.set_xlabel("generation")
    axes.set_ylabel("member")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    axes.invert_yaxis()
    tidy(axes)
    return figure


def draw_hyperparameters(lineage: Lineage) -> Figure:
    """Draw the hyperparameters and scores of all members over the generations.

    Lines lead from parents to children. The ancestors of the winner are connected in
    red.

    Args:
        lineage: Lineage with at least one generation.

    References:
        Estermann, Marks and Yanik (2020), supplement B.
    """
    from matplotlib.ticker import LogFormatter, MaxNLocator

    names = list(lineage.generations[0][0].hyperparameters)
    figure = new_figure((3.1 * (len(names) + 1), 2.6))
    panels = np.atleast_1d(figure.subplots(1, len(names) + 1))
    table = lineage_table(lineage).set_index(["generation", "member"])
    ancestors = _find_ancestors(lineage)
    for axes, name in zip(panels, [*names, "score"], strict=True):
        for generation, index in table.index:
            row = table.loc[generation, index]
            is_best = (generation, index) in ancestors
            color = _BEST if is_best else _PLAIN
            axes.plot(
                generation,
                row[name],
                marker=".",
                color=color,
                markersize=6 if is_best else 3,
                zorder=3 if is_best else 2,
            )
            if pd.notna(row["parent"]):
                before = table.loc[(generation - 1, row["parent"]), name]
                axes.plot(
                    [generation - 1, generation],
                    [before, row[name]],
                    color=color,
                    alpha=1 if is_best else 0.4,
                    linewidth=1.6 if is_best else 0.7,
                )
        if name != "score":
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.5)))
            axes.tick_params(which="minor", labelsize=8)
        axes.set_ylabel(label_of(name.rpartition(".")[2]), fontsize=8)
        axes.set_xlabel("generation", fontsize=8)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(axes)
    return figure


def draw_latent_steps(steps: LatentSteps, chosen: Reduced | None = None) -> Figure:
    """Draw the sorted labels of a latent, their derivative, and its peaks.

    Args:
        steps: Labels and peaks of a latent.
        chosen: Images for the next stage; their interval is marked.

    References:
        Estermann, Marks and Yanik (2020), Figure 3.
    """
    figure = new_figure((4.6, 3.0))
    upper, lower = figure.subplots(2, sharex=True)
    ranks = np.arange(len(steps.values))
    every = max(len(ranks) // _MOST_POINTS, 1)
    upper.plot(ranks[::every], steps.values[::every], color="#2a7f4f", linewidth=1)
    upper.set_ylabel("label", fontsize=8)
    # The maximum of each group, so that no peak is lost.
    n_groups = max(len(steps.differences) // every, 1)
    groups = np.array_split(steps.differences, n_groups)
    heights = [group.max() for group in groups if len(group)]
    where = np.linspace(0, max(len(steps.differences) - 1, 0), len(heights))
    lower.plot(where, heights, color="#2b6ca3", linewidth=0.8)
    lower.plot(steps.peaks, steps.differences[steps.peaks], "x", color=_BEST)
    lower.set_ylabel("derivative", fontsize=8)
    lower.set_xlabel("images, sorted by the latent", fontsize=8)
    intervals = [] if chosen is None else chosen.intervals
    for part in intervals:
        if part.latent == steps.latent:
            for axes in (upper, lower):
                axes.axvspan(part.start, part.stop - 1, color=_BEST, alpha=0.15)
    upper.set_title(f"latent {steps.latent}", fontsize=9)
    for axes in (upper, lower):
        tidy(axes)
    return figure


def _find_ancestors(lineage: Lineage) -> set[tuple[int, int]]:
    """Return generation and index of the winner and its ancestors."""
    generation, index = lineage.winner
    line = lineage.ancestry(generation, index)
    first = generation - len(line) + 1
    return {(first + number, member.index) for number, member in enumerate(line)}
