"""Pictures of one model: what it makes of images, and what it makes up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, float_images
from unbraid.foundation import numpy_generator, torch_generator
from unbraid.models import Autoencoder

from ._drawing import mosaic, new_figure, show_images

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PER_ROW = 8


@dataclass(frozen=True, eq=False)
class Reconstructions:
    """Images of the data and what a model makes of them.

    Attributes:
        rows: Which rows of the dataset, ``(n_images,)``.
        originals: As they are, ``(n_images, channels, height, width)``.
        pictures: Decoded from the means of their codes, same shape.
        errors: Mean squared difference of each, pixels from 0 to 1, ``(n_images,)``.
    """

    rows: NDArray[np.int64]
    originals: NDArray[np.uint8]
    pictures: NDArray[np.uint8]
    errors: NDArray[np.float64]


def reconstructions(
    model: Autoencoder, dataset: AbstractDataset, *, n_images: int = 16, seed: int = 0
) -> Reconstructions:
    """Random images of a dataset and their reconstructions.

    Args:
        model: Trained on images.
        dataset: Where images come from.
        n_images: How many.
        seed: Of which ones.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit("vae", squares, steps=1, n_latents=4).model
        >>> reconstructions(model, squares, n_images=5).pictures.shape
        (5, 3, 8, 8)
    """
    _require_images("reconstructions", model)
    generator = numpy_generator(seed, "reconstructions")
    n_rows = min(n_images, len(dataset))
    rows = np.sort(generator.choice(len(dataset), n_rows, replace=False))
    images = float_images(dataset, rows, device=model.mean.device)
    with torch.no_grad():
        pictures = model.decode(model.encode(images).mean).clamp(0, 1)
        errors = (pictures - images).square().flatten(1).mean(dim=1)
    return Reconstructions(
        rows=rows,
        originals=to_bytes(images),
        pictures=to_bytes(pictures),
        errors=errors.double().cpu().numpy(),
    )


def draw_reconstructions(found: Reconstructions) -> Figure:
    """Originals above their reconstructions.

    Args:
        found: What to draw, from :func:`reconstructions`.
    """
    n_images = len(found.rows)
    starts = range(0, n_images, _PER_ROW)
    rows, labels = [], []
    for start in starts:
        part = slice(start, start + _PER_ROW)
        rows += [found.originals[part], found.pictures[part]]
        labels += ["image", "model"]
    figure = new_figure((0.7 * min(n_images, _PER_ROW) + 0.7, 0.72 * len(rows) + 0.1))
    axes = figure.add_subplot()
    canvas, centres = mosaic(rows)
    show_images(axes, canvas)
    axes.set_yticks(centres, labels, fontsize=8)
    return figure


def prior_samples(
    model: Autoencoder, *, n_images: int = 32, seed: int = 0
) -> NDArray[np.uint8]:
    """Pictures that a model makes up, from codes drawn from the prior.

    Args:
        model: Trained on images.
        n_images: How many.
        seed: Of the codes.

    Returns:
        Pictures, ``(n_images, channels, height, width)``.
    """
    _require_images("prior_samples", model)
    codes = prior_codes(n_images, model.n_latents, seed=seed)
    with torch.no_grad():
        return to_bytes(model.decode(codes.to(model.mean.device)))


def prior_codes(n_images: int, n_latents: int, *, seed: int = 0) -> torch.Tensor:
    """What :func:`prior_samples` decodes, ``(n_images, n_latents)``."""
    generator = torch_generator(seed, "prior samples")
    return torch.empty(n_images, n_latents).normal_(generator=generator)


def draw_prior_samples(pictures: NDArray[np.uint8]) -> Figure:
    """Pictures side by side.

    Args:
        pictures: From :func:`prior_samples`.
    """
    rows = [
        pictures[start : start + _PER_ROW]
        for start in range(0, len(pictures), _PER_ROW)
    ]
    size = (0.7 * min(len(pictures), _PER_ROW), 0.7 * len(rows))
    figure = new_figure(size)
    show_images(figure.add_subplot(), mosaic(rows)[0])
    return figure


def to_bytes(pictures: torch.Tensor) -> NDArray[np.uint8]:
    """Pixels from 0 to 1 as bytes."""
    return pictures.clamp(0, 1).mul(255).round().to(torch.uint8).cpu().numpy()


def _require_images(who: str, model: Autoencoder) -> None:
    if len(model.image_shape) != 3:
        raise ValueError(
            f"{who}: expected a model of images, got one of vectors of "
            f"{model.image_shape[0]} numbers."
        )
