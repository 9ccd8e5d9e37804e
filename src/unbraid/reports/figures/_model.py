"""Figures of one model: reconstructions and samples."""

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

_PER_ROW, _BATCH = 8, 256


@dataclass(frozen=True, eq=False)
class Reconstructions:
    """Images of a dataset and their reconstructions by a model.

    Attributes:
        rows: Rows of the images in the dataset, ``(n_images,)``.
        originals: Images of the dataset, ``(n_images, channels, height, width)``.
        pictures: Images decoded from the means of their codes, same shape.
        errors: Mean squared error of each image, for pixels from 0 to 1,
            ``(n_images,)``.
    """

    rows: NDArray[np.int64]
    originals: NDArray[np.uint8]
    pictures: NDArray[np.uint8]
    errors: NDArray[np.float64]


def reconstructions(
    model: Autoencoder, dataset: AbstractDataset, *, n_images: int = 16, seed: int = 0
) -> Reconstructions:
    """Reconstruct random images of a dataset.

    Args:
        model: Model trained on images.
        dataset: Dataset from which images are drawn.
        n_images: Number of images.
        seed: Seed of the random images.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit("vae", squares, steps=1, n_latents=4).model
        >>> reconstructions(model, squares, n_images=5).pictures.shape
        (5, 3, 8, 8)
    """
    _require_images("reconstructions", model)
    return _reconstruct(model, dataset, _draw_rows(dataset, n_images, seed))


def worst_reconstructions(
    model: Autoencoder,
    dataset: AbstractDataset,
    *,
    n_images: int = 16,
    n_examined: int = 2_000,
    seed: int = 0,
) -> Reconstructions:
    """Find the images that a model reconstructs worst: what it has not learned.

    Args:
        model: Model trained on images.
        dataset: Dataset from which images are drawn.
        n_images: Number of images to return.
        n_examined: Number of random images to reconstruct; all if there are fewer.
        seed: Seed of the random images.

    Returns:
        Images with the largest squared errors, the worst first.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit("vae", squares, steps=1, n_latents=4).model
        >>> worst = worst_reconstructions(model, squares, n_images=3)
        >>> bool(worst.errors.min() >= reconstructions(model, squares).errors.min())
        True
    """
    _require_images("worst_reconstructions", model)
    rows = _draw_rows(dataset, n_examined, seed)
    parts = np.array_split(rows, -(-len(rows) // _BATCH))
    errors = [_reconstruct(model, dataset, part).errors for part in parts]
    order = np.argsort(-np.concatenate(errors), kind="stable")[:n_images]
    return _reconstruct(model, dataset, rows[order])


def _draw_rows(dataset: AbstractDataset, n_rows: int, seed: int) -> NDArray[np.int64]:
    generator = numpy_generator(seed, "reconstructions")
    n_rows = min(n_rows, len(dataset))
    return np.sort(generator.choice(len(dataset), n_rows, replace=False))


def _reconstruct(
    model: Autoencoder, dataset: AbstractDataset, rows: NDArray[np.int64]
) -> Reconstructions:
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
    """Draw images above their reconstructions.

    Args:
        found: Images from :func:`reconstructions` or :func:`worst_reconstructions`.
    """
    n_images = len(found.rows)
    starts = range(0, n_images, _PER_ROW)
    rows, labels = [], []
    for start in starts:
        part = slice(start, start + _PER_ROW)
        rows += [found.originals[part], found.pictures[part]]
        labels += ["original", "model"]
    figure = new_figure((0.7 * min(n_images, _PER_ROW) + 0.7, 0.72 * len(rows) + 0.1))
    axes = figure.add_subplot()
    canvas, centers = mosaic(rows)
    show_images(axes, canvas)
    axes.set_yticks(centers, labels, fontsize=8)
    return figure


def prior_samples(
    model: Autoencoder, *, n_images: int = 32, seed: int = 0
) -> NDArray[np.uint8]:
    """Decode codes drawn from the prior.

    Args:
        model: Model trained on images.
        n_images: Number of images.
        seed: Seed of the codes.

    Returns:
        Images, ``(n_images, channels, height, width)``.
    """
    _require_images("prior_samples", model)
    codes = prior_codes(n_images, model.n_latents, seed=seed)
    with torch.no_grad():
        return to_bytes(model.decode(codes.to(model.mean.device)))


def prior_codes(n_images: int, n_latents: int, *, seed: int = 0) -> torch.Tensor:
    """Draw codes from the prior, ``(n_images, n_latents)``."""
    generator = torch_generator(seed, "prior samples")
    return torch.empty(n_images, n_latents).normal_(generator=generator)


def draw_prior_samples(pictures: NDArray[np.uint8]) -> Figure:
    """Draw images side by side.

    Args:
        pictures: Images from :func:`prior_samples`.
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
    """Convert pixels from 0 to 1 to bytes."""
    return pictures.clamp(0, 1).mul(255).round().to(torch.uint8).cpu().numpy()


def _require_images(caller: str, model: Autoencoder) -> None:
    if len(model.image_shape) != 3:
        raise ValueError(
            f"{caller} needs a model of images, but this is a model of vectors of "
            f"{model.image_shape[0]} numbers."
        )
