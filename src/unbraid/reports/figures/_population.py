"""Populations in pictures: who descends from whom, and how settings changed."""

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
"""Of a curve: more could not be told apart."""


def lineage_table(lineage: Lineage) -> pd.DataFrame:
    """One row per member and generation: parent, score, steps and hyperparameters.

    Args:
        lineage: Of a population.
    """
    rows = [
        {
            "generation": number,
            "member": member.place,
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
    """A tree of all members: a column per generation, lines from parents to heirs.

    Colours are scores, crosses are members that failed, and the way to the winner is
    red.

    Args:
        lineage: With a generation or more.
    """
    from matplotlib.ticker import MaxNLocator

    n_generations = len(lineage.generations)
    n_places = max(len(members) for members in lineage.generations)
    size = (1.6 + 0.45 * n_generations, 1.1 + 0.2 * n_places)
    figure = new_figure((max(min(size[0], 12), 4), max(min(size[1], 9), 2.2)))
    axes = figure.subplots()
    way = _way_to_winner(lineage)
    for number, members in enumerate(lineage.generations):
        for member in members:
            if member.parent is None:
                continue
            is_best = (number, member.place) in way
            axes.plot(
                [number - 1, number],
                [member.parent, member.place],
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
    """Every hyperparameter of every member over the generations, and the scores.

    Lines follow parents: a line that forks is a member that was copied. The way to the
    winner is red.

    Args:
        lineage: With a generation or more.

    References:
        Estermann, Marks and Yanik (2020), supplement B.
    """
    from matplotlib.ticker import LogFormatter, MaxNLocator

    names = list(lineage.generations[0][0].hyperparameters)
    figure = new_figure((3.1 * (len(names) + 1), 2.6))
    panels = np.atleast_1d(figure.subplots(1, len(names) + 1))
    table = lineage_table(lineage).set_index(["generation", "member"])
    way = _way_to_winner(lineage)
    for axes, name in zip(panels, [*names, "score"], strict=True):
        for place in table.index:
            row = table.loc[place]
            is_best = place in way
            colour = _BEST if is_best else _PLAIN
            axes.plot(
                place[0],
                row[name],
                marker=".",
                color=colour,
                markersize=6 if is_best else 3,
                zorder=3 if is_best else 2,
            )
            if pd.notna(row["parent"]):
                before = table.loc[(place[0] - 1, row["parent"]), name]
                axes.plot(
                    [place[0] - 1, place[0]],
                    [before, row[name]],
                    color=colour,
                    alpha=1 if is_best else 0.4,
                    linewidth=1.6 if is_best else 0.7,
                )
        if name != "score":
            axes.set_yscale("log")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1, 0.5)))
            axes.tick_params(which="minor", labelsize=8)
        axes.set_title(label_of(name.rpartition(".")[2]), fontsize=9)
        axes.set_xlabel("generation", fontsize=8)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(axes)
    return figure


def draw_latent_steps(steps: LatentSteps, chosen: Reduced | None = None) -> Figure:
    """The sorted labels of a latent, their derivative, its peaks and an interval.

    Args:
        steps: Of a latent.
        chosen: Of whose intervals that of this latent is marked.

    References:
        Estermann, Marks and Yanik (2020), Figure 3.
    """
    figure = new_figure((4.6, 3.0))
    upper, lower = figure.subplots(2, sharex=True)
    places = np.arange(len(steps.values))
    every = max(len(places) // _MOST_POINTS, 1)
    upper.plot(places[::every], steps.values[::every], color="#2a7f4f", linewidth=1)
    upper.set_ylabel("label", fontsize=8)
    # The highest of each few, so that no peak is lost.
    n_groups = max(len(steps.differences) // every, 1)
    groups = np.array_split(steps.differences, n_groups)
    heights = [group.max() for group in groups if len(group)]
    where = np.linspace(0, max(len(steps.differences) - 1, 0), len(heights))
    lower.plot(where, heights, color="#2b6ca3", linewidth=0.8)
    lower.plot(steps.peaks, steps.differences[steps.peaks], "x", color=_BEST)
    lower.set_ylabel("derivative", fontsize=8)
    lower.set_xlabel("images, sorted by the latent", fontsize=8)
    own = [] if chosen is None else chosen.intervals
    for part in own:
        if part.latent == steps.latent:
            for axes in (upper, lower):
                axes.axvspan(part.start, part.stop - 1, color=_BEST, alpha=0.15)
    upper.set_title(f"latent {steps.latent}", fontsize=9)
    for axes in (upper, lower):
        tidy(axes)
    return figure


def _way_to_winner(lineage: Lineage) -> set[tuple[int, int]]:
    generation, place = lineage.winner
    line = lineage.ancestry(generation, place)
    first = generation - len(line) + 1
    return {(first + number, member.place) for number, member in enumerate(line)}
