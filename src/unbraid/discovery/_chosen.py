"""The chosen model of a discovery, and what is computed with it."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, float_images
from unbraid.models import Autoencoder
from unbraid.reports import (
    LatentTraversals,
    Reconstructions,
    latent_traversals,
    worst_reconstructions,
)
from unbraid.representation import Representation, encode
from unbraid.training import ACTIVE, SavedModel

from ._data import sample_rows
from ._discovery import Latent, Quality
from ._evidence import Population

_LATENTS_SHOWN = 10
_ROWS_EXPLAINED, _BATCH = 2_000, 256


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen model, and what was computed with it.

    Attributes:
        saved: The model with the content of its files.
        model: The model.
        codes: Codes of all images.
        traversals: Traversals of its active latents; ``None`` for vectors.
        latents: The same latents in numbers; empty for vectors.
        worst: Images that the model reconstructs worst; ``None`` for vectors.
        explained: Share of the variance of the pixels that the model reconstructs.
        quality: Quality of the choice, if the data have labels.
    """

    saved: SavedModel
    model: Autoencoder
    codes: Representation
    traversals: LatentTraversals | None
    latents: tuple[Latent, ...]
    worst: Reconstructions | None
    explained: float
    quality: Quality | None


def use_chosen(population: Population, name: str, dataset: AbstractDataset) -> Chosen:
    """Encode all images with the chosen model, and measure what its latents do.

    Args:
        population: The models that were compared.
        name: Name of the chosen model.
        dataset: Data that the models were trained on.
    """
    saved = population.models[population.index(name)]
    model = saved.model
    assert isinstance(model, Autoencoder)  # a study trains nothing else
    traversals = worst = None
    if len(model.image_shape) == 3:
        traversals = latent_traversals(model, dataset, n_latents=_LATENTS_SHOWN)
        n_active = sum(kl > ACTIVE for kl in traversals.kl)
        traversals = traversals.first(n_latents=max(n_active, 1))
        worst = worst_reconstructions(model, dataset)
    return Chosen(
        saved=saved,
        model=model,
        codes=encode(model, dataset, progress=False),
        traversals=traversals,
        latents=_describe_latents(traversals),
        worst=worst,
        explained=measure_explained(model, dataset),
        quality=_measure_quality(population, name),
    )


def _describe_latents(traversals: LatentTraversals | None) -> tuple[Latent, ...]:
    if traversals is None:
        return ()
    changes = _measure_changes(traversals.images)
    return tuple(
        Latent(number, kl, float(change))
        for number, kl, change in zip(
            traversals.latents, traversals.kl, changes, strict=True
        )
    )


def _measure_changes(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the mean change of a pixel while each latent moves between its ends.

    Args:
        images: Traversals ``(bases, latents, values, channels, height, width)``.
    """
    ends = images[:, :, [0, -1]].astype(np.float64) / 255
    return np.abs(ends[:, :, 1] - ends[:, :, 0]).mean(axis=(0, 2, 3, 4))


def measure_explained(model: Autoencoder, dataset: AbstractDataset) -> float:
    r"""Share of the variance of the data that reconstructions from means explain.

    .. math:: 1 - \frac{\sum_x \| x - \hat x \|^2}{\sum_x \| x - \bar x \|^2}

    Args:
        model: Trained model.
        dataset: Data that it was trained on, of which up to 2,000 rows are used.

    Returns:
        At most 1; below 0 if reconstructions are worse than the mean of the data.
    """
    rows = sample_rows(dataset, _ROWS_EXPLAINED)
    images = float_images(dataset, rows)
    with torch.no_grad():
        again = torch.cat([model(part).cpu() for part in images.split(_BATCH)])
    left = (images - again).double().square().sum()
    total = (images - images.mean(dim=0)).double().square().sum()
    return float(1 - left / total)


def _measure_quality(population: Population, chosen: str) -> Quality | None:
    scores = population.scores
    if np.isnan(scores).any():
        return None
    own = population.index(chosen)
    others = np.delete(scores, own)
    return Quality(
        chosen=float(scores[own]),
        median=float(np.median(scores)),
        best=float(scores.max()),
        better_than=float(np.mean(others < scores[own])),
    )
