"""Distances along factors, in data, codes and reconstructions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace, float_images
from unbraid.foundation import numpy_generator
from unbraid.models import Autoencoder, DiagonalGaussian

from ._losses import ImageLoss, choose_loss, group_distances, squared_distances

_MAX_VALUES = 32


@dataclass(frozen=True, eq=False)
class DistanceMatrices:
    """Mean distances between the values of each factor, with all others fixed.

    Attributes:
        factors: Names of the factors.
        levels: Kinds of distances: ``"factor"`` (steps between values), ``"data"``
            (perceived by a loss, per pixel), and with a model ``"latent"`` (Euclidean,
            between means), ``"divergence"`` (of posteriors, in nats) and, if it has a
            decoder, ``"reconstruction"`` (perceived).
        matrices: Square matrices by level, one per factor.
    """

    factors: tuple[str, ...]
    levels: tuple[str, ...]
    matrices: Mapping[str, tuple[NDArray[np.float64], ...]]


def distance_matrices(
    dataset: AbstractDataset,
    model: Autoencoder | None = None,
    *,
    loss: ImageLoss | str | Path | None = None,
    n_traversals: int = 16,
    seed: int = 0,
) -> DistanceMatrices:
    """Return distances along factor traversals, at every level of a model.

    A VAE encodes images close to each other if its reconstruction loss between them is
    small. If the matrices of a factor look alike at all levels, the latents follow
    distances that were in the data already.

    Args:
        dataset: Dataset with every combination of its factors.
        model: Model trained on it; if not given, only factors and data are compared.
        loss: Loss that compares images, as in :func:`perceived_distances`. By default
            the loss that the model was trained with, or squared error without a model.
        n_traversals: Number of traversals over which matrices are averaged.
        seed: Seed of the starts of the traversals.

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
    if loss is None:
        loss = "mse" if model is None else model
    measure = choose_loss(loss)
    generator = numpy_generator(seed, "distance matrices")
    starts = generator.integers(len(dataset), size=n_traversals)
    found: dict[str, list[NDArray[np.float64]]] = {}
    for factor, size in zip(space.names, space.sizes, strict=True):
        n_values = min(size, _MAX_VALUES)
        values = np.linspace(0, size - 1, n_values).round().astype(np.int64)
        rows = space.traversals(factor, starts)[:, values]
        steps = np.abs(values[:, None] - values).astype(np.float64)
        found.setdefault("factor", []).append(steps)
        for level, tables in _levels(dataset, model, measure, rows).items():
            found.setdefault(level, []).append(tables.mean(dim=0).cpu().numpy())
    return DistanceMatrices(
        factors=space.names,
        levels=tuple(found),
        matrices={level: tuple(tables) for level, tables in found.items()},
    )


def require_grid(caller: str, dataset: AbstractDataset) -> FactorSpace:
    """Return the factors of a dataset that has every combination of their values.

    Args:
        caller: Name of the function that needs them, for the message.
        dataset: The dataset.

    Raises:
        TypeError: If it is not a dataset.
        ValueError: If combinations are missing.
    """
    if not isinstance(dataset, AbstractDataset):
        raise TypeError(
            f"{caller} needs a dataset, got {type(dataset).__name__}. Wrap arrays in "
            "unbraid.data.LabeledImages, or open a name with "
            "unbraid.data.open_dataset."
        )
    space = dataset.factor_space
    if space is None or not dataset.is_grid:
        raise ValueError(
            f"{caller} needs a dataset with every combination of its factors, which "
            f"{dataset.name!r} does not have."
        )
    return space


def _levels(
    dataset: AbstractDataset,
    model: Autoencoder | None,
    loss: ImageLoss,
    rows: NDArray[np.int64],
) -> dict[str, torch.Tensor]:
    """Return matrices of each traversal by level, ``(n_traversals, size, size)``."""
    shape = rows.shape
    images = float_images(dataset, rows.reshape(-1))
    levels = {"data": _perceived(loss, images.double(), shape)}
    if model is None:
        return levels
    with torch.no_grad():
        posterior = model.encode(images.to(model.mean.device, model.mean.dtype))
    means = posterior.mean.double().reshape(*shape, -1)
    levels["latent"] = squared_distances(means).sqrt()
    if isinstance(posterior, DiagonalGaussian):
        variances = posterior.variance.double().reshape(*shape, -1)
        levels["divergence"] = _divergences(means, variances)
    if model.has_decoder:
        with torch.no_grad():
            pictures = model.decode(posterior.mean).double()
        levels["reconstruction"] = _perceived(loss, pictures, shape)
    return levels


def _perceived(
    loss: ImageLoss, images: torch.Tensor, shape: tuple[int, ...]
) -> torch.Tensor:
    """Return distances per pixel between all images of each traversal.

    Cross-entropy is not symmetric, and that of an image with itself is not 0. Distances
    are the increase of the loss over its minimum, averaged over both directions.
    """
    n_traversals, size = shape
    every = torch.arange(n_traversals * size * size, device=images.device)
    group, first = every // size**2, every // size % size
    parts = images.reshape(n_traversals, size, *images.shape[1:])
    distances = group_distances(loss, parts, group, first, every % size)
    tables = distances.reshape(n_traversals, size, size) / images[0].numel()
    tables = tables - tables.diagonal(dim1=1, dim2=2)[:, :, None]
    return 0.5 * (tables + tables.mT)


def _divergences(means: torch.Tensor, variances: torch.Tensor) -> torch.Tensor:
    """Return KL divergences between the posteriors of each traversal, in nats."""
    ratio = variances[:, :, None] / variances[:, None]
    shift = (means[:, :, None] - means[:, None]).square() / variances[:, None]
    tables = 0.5 * (ratio - 1 - ratio.log() + shift).sum(dim=3)
    # Symmetric, as distances are.
    return 0.5 * (tables + tables.mT)
