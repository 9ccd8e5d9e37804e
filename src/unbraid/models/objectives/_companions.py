"""Images that are seen together: one pass through the model for all of them."""

import torch

from unbraid.data import Batch
from unbraid.models._posterior import DiagonalGaussian


def images_together(batch: Batch, n_images: int, *, who: str) -> torch.Tensor:
    """Anchors and their companions in one tensor.

    Args:
        batch: With at least ``n_images - 1`` companions.
        n_images: How many images go together, with the anchor.
        who: Name of the objective, for error messages.

    Returns:
        ``(n_images * batch, *image_shape)``, all anchors first.
    """
    images = (batch.images, *batch.partner_images)
    if len(images) < n_images:
        raise ValueError(
            f"{who} needs {n_images} images that go together, got {len(images)}. Draw "
            "batches with the sampler() of the objective."
        )
    return torch.cat(images[:n_images])


def split_posterior(
    posterior: DiagonalGaussian, n_parts: int
) -> tuple[DiagonalGaussian, ...]:
    """Posteriors of anchors and of companions, from those of all of them."""
    means = posterior.mean.chunk(n_parts)
    log_variances = posterior.log_variance.chunk(n_parts)
    parts = zip(means, log_variances, strict=True)
    return tuple(DiagonalGaussian(*part) for part in parts)


def join_posteriors(*parts: DiagonalGaussian) -> DiagonalGaussian:
    """The opposite of :func:`split_posterior`."""
    return DiagonalGaussian(
        torch.cat([part.mean for part in parts]),
        torch.cat([part.log_variance for part in parts]),
    )
