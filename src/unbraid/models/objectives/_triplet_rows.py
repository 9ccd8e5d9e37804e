"""Rows of a batch that are anchors, positives and negatives."""

from dataclasses import dataclass

import torch

from unbraid.models._autoencoder import Autoencoder


@dataclass(frozen=True)
class TripletRows:
    """Row numbers of triplets in a tensor of images, ``(n_triplets,)`` each.

    Attributes:
        anchors: Rows of the anchors.
        positives: Rows of the images that should be closer to the anchor.
        negatives: Rows of the images that should be farther from the anchor.
        is_kept: Whether the triplet is used: not if both images are equally far.
    """

    anchors: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    is_kept: torch.Tensor

    def of(self, values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return values ``(n_images, ...)`` of anchors, positives and negatives."""
        return values[self.anchors], values[self.positives], values[self.negatives]


def given_triplets(images: torch.Tensor) -> TripletRows:
    """Return triplets in the order of a sampler: a third of the images each."""
    rows = torch.arange(len(images), device=images.device)
    anchors, positives, negatives = rows.chunk(3)
    return TripletRows(anchors, positives, negatives, torch.ones_like(anchors) > 0)


def perceived_triplets(
    model: Autoencoder,
    images: torch.Tensor,
    n_triplets: int,
    *,
    generator: torch.Generator,
) -> TripletRows:
    """Draw triplets within a batch, ordered by the perceived distance of the images.

    Args:
        model: Model whose reconstruction loss compares the images.
        images: Images ``(n_images, *image_shape)``.
        n_triplets: Number of triplets to draw, with replacement.
        generator: Source of randomness.

    References:
        Michlo (2022), dissertation, section 5.5.1 and Eq. 5.24.
    """
    rows = torch.randint(
        len(images), (3, n_triplets), generator=generator, device=images.device
    )
    anchors, first, second = rows
    with torch.no_grad():
        to_first = model.perceived_distance(images[anchors], images[first])
        to_second = model.perceived_distance(images[anchors], images[second])
    is_ordered = to_first <= to_second
    return TripletRows(
        anchors=anchors,
        positives=torch.where(is_ordered, first, second),
        negatives=torch.where(is_ordered, second, first),
        is_kept=to_first != to_second,
    )
