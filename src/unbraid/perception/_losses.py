"""Reconstruction losses as distances between images."""

from collections.abc import Callable
from pathlib import Path

import torch

from unbraid.models import (
    AbstractLikelihood,
    Autoencoder,
    Bernoulli,
    FeatureAugmented,
    Gaussian,
    KernelAugmented,
    Laplace,
    load_likelihood,
)

PairLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Function from two arrays of images ``(n, ...)`` to distances ``(n,)``."""

ImageLoss = AbstractLikelihood | Autoencoder | PairLoss
"""Loss that compares images; a model stands for its reconstruction loss."""

_PIXEL_LOSSES: dict[str, AbstractLikelihood] = {
    "mse": Gaussian(),
    "mae": Laplace(),
    "bernoulli": Bernoulli(),
}

LOSSES: dict[str, AbstractLikelihood] = {
    **_PIXEL_LOSSES,
    **{f"{name}-box": KernelAugmented(base=x) for name, x in _PIXEL_LOSSES.items()},
    **{
        f"{name}-gaussian": KernelAugmented(base=x, kernel="gaussian")
        for name, x in _PIXEL_LOSSES.items()
    },
}
"""Losses by name: of pixels, and with a kernel half as wide as the image."""


def choose_loss(loss: ImageLoss | str | Path) -> ImageLoss:
    """Return a loss by its name, or from the file of a learned one.

    Args:
        loss: A name in :data:`LOSSES`, the path of a ``.json`` file that
            :func:`unbraid.models.save_likelihood` wrote, or a loss or a model, which
            is returned.

    Example:
        >>> choose_loss("mse")
        Gaussian(variance=0.5)
    """
    if isinstance(loss, AbstractLikelihood) or callable(loss):
        return loss
    if str(loss) in LOSSES:
        return LOSSES[str(loss)]
    if str(loss).endswith(".json"):
        return load_likelihood(loss)
    raise ValueError(
        f"loss must be one of {', '.join(LOSSES)}, or the .json file of a learned "
        f"loss, got {str(loss)!r}."
    )


def needs_unit_range(loss: ImageLoss) -> bool:
    """Return whether a loss needs values between 0 and 1."""
    likelihood = loss.likelihood if isinstance(loss, Autoencoder) else loss
    return isinstance(likelihood, AbstractLikelihood) and likelihood.needs_unit_range


def group_distances(
    loss: ImageLoss,
    images: torch.Tensor,
    group: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
) -> torch.Tensor:
    """Return distances of pairs of images within groups, summed over pixels.

    Blurred images, features, and the scalar products of squared differences, are
    computed once per image instead of once per pair.

    Args:
        loss: Loss that compares images.
        images: Images, ``(n_groups, group_size, ...)``.
        group: Group of each pair, ``(n_pairs,)``.
        first: Index of the first image of each pair in its group, ``(n_pairs,)``.
        second: Index of the second image of each pair in its group, ``(n_pairs,)``.

    Returns:
        Distances, ``(n_pairs,)``, differentiable with respect to the images.
    """
    if isinstance(loss, Autoencoder):
        if loss.is_standardizing:
            # The loss compares standardized images.
            images = (images - loss.mean.to(images)) / loss.std.to(images)
        return group_distances(loss.likelihood, images, group, first, second)
    if isinstance(loss, KernelAugmented):
        plain = group_distances(loss.base, images, group, first, second)
        blurred, weight = loss.blur(images.flatten(0, 1))
        blurred = blurred.reshape(images.shape)
        return plain + weight * group_distances(
            loss.base, blurred, group, first, second
        )
    if isinstance(loss, FeatureAugmented):
        plain = group_distances(loss.base, images, group, first, second)
        maps = loss.features(images.flatten(0, 1)).flatten(1)
        points = maps.unflatten(0, images.shape[:2])
        return plain + loss.weight * squared_distances(points)[group, first, second]
    if isinstance(loss, Gaussian):
        squares = squared_distances(images.flatten(2))[group, first, second]
        return squares / (2.0 * loss.variance)
    measure = loss.distance if isinstance(loss, AbstractLikelihood) else loss
    return measure(images[group, first], images[group, second])


def squared_distances(points: torch.Tensor) -> torch.Tensor:
    """Return squared distances between all points of each group.

    Args:
        points: Points, ``(n_groups, size, n_dimensions)``.

    Returns:
        Squared distances, ``(n_groups, size, size)``.
    """
    # Centered, because smaller scalar products lose fewer digits.
    points = points - points.mean(dim=1, keepdim=True)
    products = points @ points.mT
    norms = products.diagonal(dim1=1, dim2=2)
    return (norms[:, :, None] + norms[:, None] - 2.0 * products).clamp_min(0.0)
