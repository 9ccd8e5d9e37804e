"""Images of factor and latent traversals."""

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace, float_images
from unbraid.foundation import numpy_generator
from unbraid.models import Autoencoder, DiagonalGaussian

_ENCODED = 2_000
"""Number of images from which the KL divergence of latents is estimated."""


@dataclass(frozen=True)
class FactorTraversals:
    """Images of a dataset in which one factor at a time varies.

    Attributes:
        dataset: Name of the dataset.
        factors: Names of the factors.
        images: Images of each factor, over its values, ``(n_values, channels, height,
            width)``.
    """

    dataset: str
    factors: tuple[str, ...]
    images: tuple[NDArray[np.uint8], ...]


def factor_traversals(
    dataset: AbstractDataset, *, n_values: int = 8, base: int | None = None
) -> FactorTraversals:
    """Return images in which one factor at a time runs through its values.

    Args:
        dataset: Dataset with every combination of its factors.
        n_values: Number of values per factor, evenly spaced from first to last.
        base: Row that all traversals pass through. By default, ordinal factors have
            their middle value, categorical factors their last value, and cyclic
            factors (often hues) values apart from each other.

    Example:
        >>> from unbraid.data import XYSquares
        >>> [images.shape for images in factor_traversals(XYSquares()).images][:2]
        [(8, 3, 64, 64), (8, 3, 64, 64)]
    """
    space = dataset.factor_space
    if space is None or not dataset.is_grid:
        raise ValueError(
            "factor_traversals needs a dataset with every combination of its factors, "
            f"and {dataset.name!r} lacks some or has no factors."
        )
    if base is None:
        base = int(space.indices(_middle(space)))
    images = []
    for factor, size in zip(space.names, space.sizes, strict=True):
        values = np.linspace(0, size - 1, min(n_values, size)).round().astype(int)
        rows = space.traversals(factor, np.array(base))[values]
        images.append(dataset.images(rows))
    return FactorTraversals(dataset.name, space.names, tuple(images))


def _middle(space: FactorSpace) -> NDArray[np.int64]:
    """Return factor values from which a change of every factor is visible."""
    n_cyclic, seen, values = space.kinds.count("cyclic"), 0, []
    for size, kind in zip(space.sizes, space.kinds, strict=True):
        if kind == "ordinal":
            values.append(size // 2)
        elif kind == "cyclic":
            values.append(seen * size // n_cyclic)
            seen += 1
        else:
            values.append(size - 1)
    return np.array(values)


@dataclass(frozen=True)
class LatentTraversals:
    """Decoded images in which one latent at a time varies.

    Attributes:
        latents: Indices of the latents, sorted by decreasing ``kl``.
        kl: Mean KL divergence of each latent in nats; the variance of the code if the
            model is not variational.
        values: Values of the varying latent, ``(n_values,)``.
        originals: Images of the dataset whose codes are varied, ``(n_bases, channels,
            height, width)``.
        images: Decoded images, ``(n_bases, n_latents, n_values, channels, height,
            width)``.
        unit: Unit of ``kl``.
    """

    latents: tuple[int, ...]
    kl: tuple[float, ...]
    values: NDArray[np.float64]
    originals: NDArray[np.uint8]
    images: NDArray[np.uint8]
    unit: Literal["nats", "variance"] = "nats"

    def first(self, *, n_latents: int, n_bases: int | None = None) -> Self:
        """Return the traversals of the first latents, through the first images.

        Args:
            n_latents: Number of latents.
            n_bases: Number of images that traversals pass through; all when not given.
        """
        return replace(
            self,
            latents=self.latents[:n_latents],
            kl=self.kl[:n_latents],
            originals=self.originals[:n_bases],
            images=self.images[:n_bases, :n_latents],
        )


def latent_traversals(
    model: Autoencoder,
    dataset: AbstractDataset,
    *,
    n_bases: int = 3,
    n_latents: int = 6,
    n_values: int = 8,
    reach: float = 2.0,
    seed: int = 0,
) -> LatentTraversals:
    """Decode images in which one latent at a time runs through its values.

    Args:
        model: Model trained on images.
        dataset: Dataset from which images are drawn.
        n_bases: Number of images whose codes are varied, drawn at random.
        n_latents: Number of latents, those with the highest KL divergence first.
        n_values: Number of values per latent, evenly spaced.
        reach: Largest value of a latent, in standard deviations of the prior. Values
            run from ``-reach`` to ``reach``.
        seed: Seed of the random images.

    Example:
        >>> from unbraid.data import XYSquares
        >>> from unbraid.training import fit
        >>> squares = XYSquares(image_size=8, square_size=1, n_squares=1)
        >>> model = fit("vae", squares, steps=1, n_latents=4).model
        >>> latent_traversals(model, squares, n_latents=2).images.shape
        (3, 2, 8, 3, 8, 8)
    """
    if len(model.image_shape) != 3:
        raise ValueError(
            "latent_traversals needs a model of images, but this is a model of vectors "
            f"of {model.image_shape[0]} numbers."
        )
    generator = numpy_generator(seed, "latent traversals")
    n_rows = min(len(dataset), max(n_bases, _ENCODED))
    rows = generator.choice(len(dataset), n_rows, replace=False)
    device = model.mean.device
    with torch.no_grad():
        posterior = model.encode(float_images(dataset, rows, device=device))
        if isinstance(posterior, DiagonalGaussian):
            kl = posterior.kl_to_prior().mean(dim=0)
        else:
            kl = posterior.mean.var(dim=0)
        order = kl.argsort(descending=True)[:n_latents]
        values = torch.linspace(-reach, reach, n_values, device=device)
        bases = posterior.mean[:n_bases]
        codes = bases[:, None, None].repeat(1, len(order), n_values, 1)
        for column, latent in enumerate(order.tolist()):
            codes[:, column, :, latent] = values
        pictures = model.decode(codes.flatten(0, 2)).clamp(0, 1).mul(255).round()
    images = pictures.to(torch.uint8).cpu().numpy()
    return LatentTraversals(
        latents=tuple(order.tolist()),
        kl=tuple(kl[order].tolist()),
        values=values.double().cpu().numpy(),
        originals=dataset.images(rows[: len(bases)]),
        images=images.reshape(*codes.shape[:3], *model.image_shape),
        unit="nats" if isinstance(posterior, DiagonalGaussian) else "variance",
    )
