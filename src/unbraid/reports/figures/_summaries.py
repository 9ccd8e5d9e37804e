"""The numbers behind the pictures: computed here, drawn elsewhere."""

from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, FactorSpace, float_images
from unbraid.foundation import numpy_generator
from unbraid.models import Autoencoder, DiagonalGaussian

_ENCODED = 2_000
"""Images from which it is estimated how much each latent says."""


@dataclass(frozen=True)
class FactorTraversals:
    """What each factor of a dataset does to an image, the others held still.

    Attributes:
        dataset: Name of the dataset.
        factors: Name of each factor.
        images: For each factor, images while it runs through its values,
            ``(n_values, channels, height, width)``.
    """

    dataset: str
    factors: tuple[str, ...]
    images: tuple[NDArray[np.uint8], ...]


def factor_traversals(
    dataset: AbstractDataset, *, n_values: int = 8, base: int | None = None
) -> FactorTraversals:
    """Images while each factor in turn runs through its values.

    Args:
        dataset: A dataset that is the complete grid of its factors.
        n_values: Values shown of each factor, spread evenly from first to last.
        base: Row to pass through. When not given, ordered factors stand in the middle,
            categories at the last, and cyclic factors (often hues) apart from another.

    Example:
        >>> from unbraid.data import XYSquares
        >>> [images.shape for images in factor_traversals(XYSquares()).images][:2]
        [(8, 3, 64, 64), (8, 3, 64, 64)]
    """
    space = dataset.factor_space
    if space is None or not dataset.is_grid:
        raise ValueError(
            "factor_traversals: expected a dataset that holds every combination of its "
            f"factors, got {dataset.name!r}."
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
    """A combination from which every factor can be seen to change."""
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
    """What each latent of a model does to a picture, the others held still.

    Attributes:
        latents: Numbers of the latents, those that say most first.
        kl: Mean divergence from the prior of each of them, in nats; the variance of the
            code, for a model without uncertainty.
        values: What the moving latent is set to, ``(n_values,)``.
        originals: Images of the data that traversals pass through, ``(n_bases,
            channels, height, width)``.
        images: Pictures, ``(n_bases, n_latents, n_values, channels, height, width)``.
        unit: Of ``kl``.
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
    """Pictures while each latent in turn runs through its values.

    Args:
        model: Trained on images.
        dataset: Where the base points come from.
        n_bases: Images to pass through, drawn at random.
        n_latents: Latents shown, those that say most.
        n_values: Values of each, spread evenly.
        reach: How far they go from 0, in standard deviations of the prior.
        seed: Of the base points.

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
            "latent_traversals: expected a model of images, got one of vectors of "
            f"{model.image_shape[0]} numbers."
        )
    generator = numpy_generator(seed, "latent traversals")
    n_rows = min(len(dataset), max(n_bases, _ENCODED))
    rows = generator.choice(len(dataset), n_rows, replace=False)
    device = model.mean.device
    with torch.no_grad():
        posterior = model.encode(float_images(dataset, rows, device=device))
        if isinstance(posterior, DiagonalGaussian):
            says = posterior.kl_to_prior().mean(dim=0)
        else:
            says = posterior.mean.var(dim=0)
        order = says.argsort(descending=True)[:n_latents]
        values = torch.linspace(-reach, reach, n_values, device=device)
        bases = posterior.mean[:n_bases]
        codes = bases[:, None, None].repeat(1, len(order), n_values, 1)
        for place, latent in enumerate(order.tolist()):
            codes[:, place, :, latent] = values
        pictures = model.decode(codes.flatten(0, 2)).clamp(0, 1).mul(255).round()
    images = pictures.to(torch.uint8).cpu().numpy()
    return LatentTraversals(
        latents=tuple(order.tolist()),
        kl=tuple(says[order].tolist()),
        values=values.double().cpu().numpy(),
        originals=dataset.images(rows[: len(bases)]),
        images=images.reshape(*codes.shape[:3], *model.image_shape),
        unit="nats" if isinstance(posterior, DiagonalGaussian) else "variance",
    )
