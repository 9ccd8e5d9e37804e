"""Pairs and triplets of images, which pass through the model in one batch."""

import torch

from unbraid.data import Batch
from unbraid.models._posterior import DiagonalGaussian


def images_together(batch: Batch, n_images: int, *, caller: str) -> torch.Tensor:
    """Concatenate anchors and their companions.

    Args:
        batch: Batch with at least ``n_images - 1`` companions.
        n_images: Number of images that belong together, including the anchor.
        caller: Name of the objective, for error messages.

    Returns:
        Images ``(n_images * batch, *image_shape)``, all anchors first.
    """
    images = (batch.images, *batch.partner_images)
    if len(images) < n_images:
        raise ValueError(
            f"{caller} needs groups of {n_images} images, got {len(images)}. Draw "
            "batches with the sampler() of the objective."
        )
    return torch.cat(images[:n_images])


def split_posterior(
    posterior: DiagonalGaussian, n_parts: int
) -> tuple[DiagonalGaussian, ...]:
    """Split the posteriors of all images into those of anchors and companions."""
    means = posterior.mean.chunk(n_parts)
    log_variances = posterior.log_variance.chunk(n_parts)
    parts = zip(means, log_variances, strict=True)
    return tuple(DiagonalGaussian(*part) for part in parts)


def join_posteriors(*parts: DiagonalGaussian) -> DiagonalGaussian:
    """Concatenate posteriors, the inverse of :func:`split_posterior`."""
    return DiagonalGaussian(
        torch.cat([part.mean for part in parts]),
        torch.cat([part.log_variance for part in parts]),
    )
