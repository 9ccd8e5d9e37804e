"""Distances along factors: what data, codes and reconstructions take for near."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace
from unbraid.models import Autoencoder
from unbraid.models._posterior import DiagonalGaussian
from unbraid.randomness import numpy_generator

from ._drawing import label_of, new_figure, show_matrix

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_VALUES = 32


@dataclass(frozen=True, eq=False)
class DistanceMatrices:
    """Mean distances between values of each factor, all others held still.

    Attributes:
        factors: Names of the factors.
        levels: Where they are measured: ``"factor"`` (steps between values), ``"data"``
            (mean squared difference of pixels), and of a model ``"latent"`` (Euclidean,
            between means), ``"divergence"`` (of posteriors, in nats) and
            ``"reconstruction"``.
        matrices: By level, one square table per factor.
    """

    factors: tuple[str, ...]
    levels: tuple[str, ...]
    matrices: Mapping[str, tuple[NDArray[np.float64], ...]]


def distance_matrices(
    dataset: AbstractDataset,
    model: Autoencoder | None = None,
    *,
    n_traversals: int = 16,
    seed: int = 0,
) -> DistanceMatrices:
    """Distances along factor traversals, at every level of a model.

    A VAE puts images near each other that its reconstruction loss takes for alike. If
    the tables of a row look the same, the latents follow distances that were in the
    data already.

    Args:
        dataset: The complete grid of its factors.
        model: Trained on it; without one, only factors and data are compared.
        n_traversals: Over which the tables of a factor are averaged.
        seed: Of where traversals start.

    Example:
        >>> from unbraid.data import XYSquares
        >>> squares = XYSquares(image_size=8, square_size=2, n_squares=1)
        >>> found = distance_matrices(squares)
        >>> found.levels, found.matrices["data"][0].shape
        (('factor', 'data'), (4, 4))

    References:
        Michlo (2022), dissertation, Figures 3.4, 3.5 and 3.11.
    """
    space = require_grid("distance_matrices", dataset)
    generator = numpy_generator(seed, "distance matrices")
    starts = generator.integers(len(dataset), size=n_traversals)
    found: dict[str, list[NDArray[np.float64]]] = {}
    for factor, size in zip(space.names, space.sizes, strict=True):
        n_values = min(size, _MOST_VALUES)
        values = np.linspace(0, size - 1, n_values).round().astype(np.int64)
        rows = space.traversals(factor, starts)[:, values].reshape(-1)
        steps = np.abs(values[:, None] - values).astype(np.float64)
        found.setdefault("factor", []).append(steps)
        for level, points in _levels(dataset, model, rows).items():
            parts = points.reshape(n_traversals, n_values, -1)
            table = np.mean([_distances(level, part) for part in parts], axis=0)
            found.setdefault(level, []).append(table)
    return DistanceMatrices(
        factors=space.names,
        levels=tuple(found),
        matrices={level: tuple(tables) for level, tables in found.items()},
    )


def draw_distance_matrices(found: DistanceMatrices) -> Figure:
    """One row per factor, one column per level; each table in its own colours.

    Args:
        found: What to draw, from :func:`distance_matrices`.
    """
    n_rows, n_columns = len(found.factors), len(found.levels)
    figure = new_figure((1.15 * n_columns + 0.4, 1.1 * n_rows + 0.3))
    grid = figure.subplots(n_rows, n_columns, squeeze=False)
    for column, level in enumerate(found.levels):
        grid[0, column].set_title(level, fontsize=9)
        for row, table in enumerate(found.matrices[level]):
            high = max(float(table.max()), 1e-12)
            show_matrix(grid[row, column], table, low=0.0, high=high, colours="magma")
    for row, factor in enumerate(found.factors):
        grid[row, 0].set_ylabel(label_of(factor), fontsize=8)
    return figure


def require_grid(who: str, dataset: AbstractDataset) -> FactorSpace:
    """The factors of a dataset that holds every combination of them."""
    space = dataset.factor_space
    if space is None or not dataset.is_grid:
        raise ValueError(
            f"{who}: expected a dataset that holds every combination of its factors, "
            f"got {dataset.name!r}."
        )
    return space


def _levels(
    dataset: AbstractDataset, model: Autoencoder | None, rows: NDArray[np.int64]
) -> dict[str, NDArray[np.float64]]:
    """Points of rows at each level, one row each."""
    images = pixels_of(dataset, rows)
    levels: dict[str, NDArray[np.float64]] = {}
    levels["data"] = images.reshape(len(rows), -1).astype(np.float64)
    if model is None:
        return levels
    with torch.no_grad():
        inputs = torch.from_numpy(images).to(model.mean.device, model.mean.dtype)
        posterior = model.encode(inputs)
        means = posterior.mean.double().cpu().numpy()
        pictures = model.decode(posterior.mean).flatten(1).double().cpu().numpy()
    levels["latent"] = means
    if isinstance(posterior, DiagonalGaussian):
        variances = posterior.variance.double().cpu().numpy()
        levels["divergence"] = np.concatenate([means, variances], axis=1)
    levels["reconstruction"] = pictures
    return levels


def _distances(level: str, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Between all rows of points, ``(n, n)``."""
    if level == "divergence":
        means, variances = np.split(points, 2, axis=1)
        ratio = variances[:, None] / variances
        shift = (means[:, None] - means) ** 2 / variances
        table = 0.5 * (ratio - 1 - np.log(ratio) + shift).sum(axis=2)
        # The divergence has a direction, a distance has none.
        return 0.5 * (table + table.T)
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    return np.sqrt(squares) if level == "latent" else squares / points.shape[1]


def pixels_of(dataset: AbstractDataset, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Rows of a dataset, bytes as numbers from 0 to 1."""
    images = dataset.images(rows)
    pixels = images.astype(np.float32)
    return pixels / np.float32(255) if images.dtype == np.uint8 else pixels
