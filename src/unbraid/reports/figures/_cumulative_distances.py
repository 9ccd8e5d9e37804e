"""Cumulative distribution of perceived distances along each factor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset
from unbraid.perception import (
    ImageLoss,
    PerceivedDistances,
    perceived_distances,
    require_grid,
)

from ._drawing import label_of, new_figure, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, eq=False)
class CumulativeDistances:
    """Sorted perceived distances between pairs of images.

    Attributes:
        names: Names of the factors along which pairs differ, and ``"any two images"``.
        distances: Perceived distances per pixel in ascending order, ``(n_names,
            n_pairs)``; mean squared differences unless another loss is used.
    """

    names: tuple[str, ...]
    distances: NDArray[np.float64]


def cumulative_distances(
    dataset: AbstractDataset,
    *,
    loss: ImageLoss | str | Path = "mse",
    n_pairs: int = 1_000,
    seed: int = 0,
) -> CumulativeDistances:
    """Compute perceived distances of image pairs that differ in one factor.

    Factors whose images differ most are learned first. Steps in a line mean that only
    few different distances occur, so that they do not order the images.

    Args:
        dataset: Dataset with every combination of its factors.
        loss: Loss that compares images, as in
            :func:`unbraid.perception.perceived_distances`; a model stands for the loss
            that it was trained with.
        n_pairs: Number of pairs per factor.
        seed: Seed of the random pairs.

    References:
        Michlo (2022), dissertation, Figure 3.13.
    """
    require_grid("cumulative_distances", dataset)
    return cumulative_of(perceived_distances(dataset, loss, n_pairs=n_pairs, seed=seed))


def cumulative_of(measured: PerceivedDistances) -> CumulativeDistances:
    """Sort the distances of all measured pairs.

    Args:
        measured: Distances from :func:`unbraid.perception.perceived_distances`.
    """
    rows = [row for row in measured.rows if row.distances.size]
    n_pairs = max(row.distances.size for row in rows)
    lines = []
    for row in rows:
        # In an incomplete grid, some factors have fewer pairs.
        indices = np.linspace(0, row.distances.size - 1, n_pairs).round()
        lines.append(row.distances[indices.astype(np.int64)])
    names = tuple(row.factor for row in rows[:-1])
    return CumulativeDistances((*names, "any two images"), np.stack(lines))


def draw_cumulative_distances(found: CumulativeDistances) -> Figure:
    """Draw the cumulative distribution of distances, with one line per factor.

    Args:
        found: Distances from :func:`cumulative_distances`.
    """
    figure = new_figure((5.6, 3.2))
    axes = figure.add_subplot()
    n_pairs = found.distances.shape[1]
    shares = np.arange(1, n_pairs + 1) / n_pairs
    # More points could not be distinguished.
    kept = np.unique(np.linspace(0, n_pairs - 1, min(n_pairs, 200)).astype(int))
    for name, line in zip(found.names, found.distances, strict=True):
        is_any = name == found.names[-1]
        axes.step(
            line[kept],
            shares[kept],
            label=label_of(name),
            where="post",
            color="#8a8a8a" if is_any else None,
            linestyle="--" if is_any else "-",
        )
    axes.set_xlabel("perceived distance per pixel", fontsize=9)
    axes.set_ylabel("share of pairs", fontsize=9)
    axes.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    tidy(axes)
    return figure
