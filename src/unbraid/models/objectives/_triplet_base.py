"""What all objectives of triplets have in common."""

import abc
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch

from unbraid.data import AbstractSampler, Batch, Singles, Triplets
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._schedules import Number

from ._base import AbstractObjective, Scale
from ._companions import images_together
from ._triplet_rows import TripletRows, given_triplets, perceived_triplets
from ._triplet_terms import (
    MarginKind,
    latent_distance,
    mean_of_kept,
    triplet_loss,
)

TripletOrder = Literal["scaled", "l1", "changed", "perceived"]


@dataclass(frozen=True, kw_only=True)
class AbstractTripletObjective(AbstractObjective, abc.ABC):
    """Settings of the triplet loss, and where the triplets come from.

    Args:
        alpha: Weight of the triplet loss, from 0. The scale leaves the triplet loss as
            it is, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: ``"hard"`` or ``"soft"``.
        margin: By how much the negative should be farther, from 0; hard only.
        p: Degree of the norm of the distance between codes, 1 or 2.
        decoder_gradient: Whether reconstruction teaches the encoder. If not, the
            encoder learns from the other terms, and the decoder follows.
        triplets: Distance that says which of two images is nearer to the anchor:
            between factors, ``"scaled"``, ``"l1"`` or ``"changed"``, with labels and
            three images from anywhere in the data; or ``"perceived"``, the
            reconstruction loss between images, without labels, in triplets drawn
            inside of each batch.
        n_triplets: Drawn in each batch, from 1; if perceived only.
        scale: ``"mean"`` over pixels and latents, as in the dissertation, or ``"sum"``.
    """

    scales_all: ClassVar[bool] = False

    scale: Scale = "mean"
    alpha: Number = 1.0
    margin_kind: MarginKind = "hard"
    margin: Number = 10.0
    p: Literal[1, 2] = 1
    decoder_gradient: bool = True
    triplets: TripletOrder = "scaled"
    n_triplets: int = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("alpha", "margin")
        self._check_whole("n_triplets")
        self._check_option("decoder_gradient", (True, False))
        self._check_option("margin_kind", get_args(MarginKind))
        self._check_option("p", (1, 2))
        self._check_option("triplets", get_args(TripletOrder))
        if self.triplets == "perceived":
            # Drawn inside the batch, where those of a sampler bring their own images.
            object.__setattr__(self, "least_batch", 3)

    def sampler(self) -> AbstractSampler:
        """Triplets in order; single images if the order is perceived."""
        if self.triplets == "perceived":
            return Singles()
        return Triplets(distance=self.triplets)

    def _images_and_rows(
        self, model: Autoencoder, batch: Batch, generator: torch.Generator
    ) -> tuple[torch.Tensor, TripletRows]:
        """All images of a batch, and which of them are triplets."""
        if self.triplets != "perceived":
            images = images_together(batch, 3, who=type(self).__name__)
            return images, given_triplets(images)
        rows = perceived_triplets(
            model, batch.images, self.n_triplets, generator=generator
        )
        return batch.images, rows

    def _triplet_term(
        self,
        codes: torch.Tensor,
        rows: TripletRows,
        step: int,
        negative_weights: torch.Tensor | float = 1.0,
    ) -> torch.Tensor:
        """Mean triplet loss.

        Args:
            codes: Of all images, ``(n_images, n_latents)``.
            rows: Which of them are triplets.
            step: For a margin that changes.
            negative_weights: How much each latent counts in the distance from anchors
                to negatives, ``(n_triplets, n_latents)``.
        """
        anchors, positives, negatives = rows.of(codes)
        losses = triplet_loss(
            latent_distance(anchors, positives, self.p),
            latent_distance(
                negative_weights * anchors, negative_weights * negatives, self.p
            ),
            kind=self.margin_kind,
            margin=self._at("margin", step),
        )
        return mean_of_kept(losses, rows.is_kept)
