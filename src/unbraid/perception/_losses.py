"""Reconstruction losses as distances between images: which, and how fast."""

from collections.abc import Callable
from pathlib import Path

import torch

from unbraid.models import (
    AbstractLikelihood,
    Autoencoder,
    Bernoulli,
    Gaussian,
    KernelAugmented,
    Laplace,
    load_likelihood,
)

PairLoss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Distance of each pair, ``(n,)``, from images ``(n, ...)`` and as many others."""

ImageLoss = AbstractLikelihood | Autoencoder | PairLoss
"""How images are compared; a model stands for its own reconstruction loss."""

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
"""Losses by name: pixel by pixel, and in addition through a kernel half as wide as the
image.
"""


def choose_loss(wanted: ImageLoss | str | Path) -> ImageLoss:
    """A loss from its name, or from the file of a learned one.

    Args:
        wanted: A name among :data:`LOSSES`, the path of a ``.json`` file that
            :func:`unbraid.models.save_likelihood` wrote, or a loss or a model, which
            is returned.

    Example:
        >>> choose_loss("mse")
        Gaussian(variance=0.5)
    """
    if isinstance(wanted, AbstractLikelihood) or callable(wanted):
        return wanted
    if str(wanted) in LOSSES:
        return LOSSES[str(wanted)]
    if str(wanted).endswith(".json"):
        return load_likelihood(wanted)
    raise ValueError(
        f"loss: expected one of {', '.join(LOSSES)}, or the .json file of a learned "
        f"loss, got {str(wanted)!r}."
    )


def needs_unit_range(loss: ImageLoss) -> bool:
    """Whether a loss compares only numbers between 0 and 1."""
    likelihood = loss.likelihood if isinstance(loss, Autoencoder) else loss
    return isinstance(likelihood, AbstractLikelihood) and likelihood.needs_unit_range


def group_distances(
    loss: ImageLoss,
    images: torch.Tensor,
    group: torch.Tensor,
    first: torch.Tensor,
    second: torch.Tensor,
) -> torch.Tensor:
    """Distances of pairs of images that stand in groups, summed over pixels.

    What can be computed once per image is not computed once per pair: blurred images,
    and the scalar products that make up squared differences.

    Args:
        loss: How images are compared.
        images: Shape ``(n_groups, group_size, ...)``.
        group: Group of each pair, ``(n_pairs,)``.
        first: Position of its first image in the group, ``(n_pairs,)``.
        second: Of its second image.

    Returns:
        Shape ``(n_pairs,)``; differentiable in the images.
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
    if isinstance(loss, Gaussian):
        squares = squared_distances(images.flatten(2))[group, first, second]
        return squares / (2.0 * loss.variance)
    measure = loss.distance if isinstance(loss, AbstractLikelihood) else loss
    return measure(images[group, first], images[group, second])


def squared_distances(points: torch.Tensor) -> torch.Tensor:
    """Between all points of each group, ``(n_groups, size, size)``.

    Args:
        points: Shape ``(n_groups, size, n_dimensions)``.
    """
    # Around a common middle, scalar products are small and lose few digits.
    points = points - points.mean(dim=1, keepdim=True)
    products = points @ points.mT
    norms = products.diagonal(dim1=1, dim2=2)
    return (norms[:, :, None] + norms[:, None] - 2.0 * products).clamp_min(0.0)
