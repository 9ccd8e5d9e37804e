"""Which images of a batch are anchor, positive and negative."""

from dataclasses import dataclass

import torch

from unbraid.models._autoencoder import Autoencoder


@dataclass(frozen=True)
class TripletRows:
    """Rows of a tensor of images, ``(n_triplets,)`` each.

    Attributes:
        anchors: First of every triplet.
        positives: What should be nearer.
        negatives: What should be farther.
        is_kept: Whether the triplet says anything: not so if both are equally far.
    """

    anchors: torch.Tensor
    positives: torch.Tensor
    negatives: torch.Tensor
    is_kept: torch.Tensor

    def of(self, values: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Rows of values ``(n_images, ...)``: anchors', positives' and negatives'."""
        return values[self.anchors], values[self.positives], values[self.negatives]


def given_triplets(images: torch.Tensor) -> TripletRows:
    """Triplets that a sampler has put in order: a third of the images each."""
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
    """Random triplets inside a batch, in the order in which the images look alike.

    Args:
        model: Whose reconstruction loss compares the images.
        images: ``(n_images, *image_shape)``.
        n_triplets: How many to draw, with replacement.
        generator: Of the draw.

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
