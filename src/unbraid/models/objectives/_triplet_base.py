"""Base classes of objectives that use triplets of images."""

import abc
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import torch

from unbraid.data import AbstractSampler, Batch, CyclicKind, Singles, Triplets
from unbraid.foundation import OMIT_DEFAULT, check_integer, check_number, check_option
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import Posterior
from unbraid.models._schedules import Number

from ._base import AbstractObjective, LossContext, Scale
from ._companions import images_together
from ._elbo import encode_gaussian, measure_evidence
from ._triplet_rows import TripletRows, given_triplets, perceived_triplets
from ._triplet_terms import (
    MarginKind,
    latent_distance,
    mean_of_kept,
    triplet_loss,
)

TripletOrder = Literal["scaled", "l1", "changed", "category", "perceived"]


@dataclass(frozen=True, kw_only=True)
class AbstractTripletObjective(AbstractObjective, abc.ABC):
    """Settings of the triplet loss, and of the triplets.

    Subclasses define the weight of each latent in the distance to negatives.

    Args:
        alpha: Weight of the triplet loss, at least 0. ``scale`` does not apply to the
            triplet loss, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: Kind of margin, ``"hard"`` or ``"soft"``.
        margin: Distance by which the negative should be farther than the positive, at
            least 0; kind ``"hard"`` only.
        p: Order of the norm of the distance between codes, at least 1.
        decoder_gradient: Whether the reconstruction loss trains the encoder. If not,
            only the other terms do.
        triplets: Distance that determines which of two images is closer to the anchor:
            ``"scaled"``, ``"l1"`` or ``"changed"`` between factors, or ``"category"``,
            whether a factor differs, which need labels and draw triplets from all the
            data; or ``"perceived"``, the reconstruction loss between images, which
            needs no labels and draws triplets within each batch.
        n_triplets: Number of triplets per batch, at least 1; used if
            ``triplets="perceived"`` only.
        category: Name of the factor that is the class; ``triplets="category"`` only.
        cyclic: Distance of values of cyclic factors: the difference of the integers
            (``"line"``) or the shorter way around the ``"circle"``.
        decoder: Whether the model has a decoder. Without one, there is no
            reconstruction loss, and the model can only encode.
        scale: Whether the loss is a ``"mean"`` over pixels and latents, as in the
            dissertation, or a ``"sum"``.
    """

    scales_all: ClassVar[bool] = False

    scale: Scale = "mean"
    alpha: Number = 1.0
    margin_kind: MarginKind = "hard"
    margin: Number = 10.0
    p: float = 1
    decoder_gradient: bool = True
    triplets: TripletOrder = "scaled"
    n_triplets: int = 1024
    category: str | None = field(default=None, metadata=OMIT_DEFAULT)
    cyclic: CyclicKind = field(default="line", metadata=OMIT_DEFAULT)
    decoder: bool = field(default=True, metadata=OMIT_DEFAULT)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", "margin")
        check_integer("n_triplets", self.n_triplets, least=1)
        check_option("decoder_gradient", self.decoder_gradient, (True, False))
        check_option("decoder", self.decoder, (True, False))
        check_option("margin_kind", self.margin_kind, MarginKind)
        check_number("p", self.p, least=1.0)
        if self.p == int(self.p):  # 2.0 is the same setting as 2, with the same hash
            object.__setattr__(self, "p", int(self.p))
        check_option("triplets", self.triplets, TripletOrder)
        self.sampler()  # checks the settings of triplets
        if self.triplets == "perceived":
            # Triplets are drawn within the batch; a sampler adds images for them.
            object.__setattr__(self, "least_batch", 3)

    @abc.abstractmethod
    def _negative_weights(
        self, posterior: Posterior, rows: TripletRows, context: LossContext
    ) -> torch.Tensor | float:
        """Return the weight of each latent in the distance to negatives.

        Returns:
            Weights ``(n_triplets, n_latents)``, or one number for all.
        """

    @property
    def needs_decoder(self) -> bool:
        """Whether the model has a decoder."""
        return self.decoder

    def sampler(self) -> AbstractSampler:
        """Return a sampler of triplets, or of single images if perceived."""
        if self.triplets != "perceived":
            return Triplets(
                distance=self.triplets, category=self.category, cyclic=self.cyclic
            )
        if self.category is not None or self.cyclic != "line":
            raise ValueError(
                "category and cyclic are settings of triplets by factors, but triplets "
                "is 'perceived'. Leave them out, or choose another kind of triplets."
            )
        return Singles()

    def _images_and_rows(
        self, model: Autoencoder, batch: Batch, context: LossContext
    ) -> tuple[torch.Tensor, TripletRows]:
        """Return all images of a batch, and the rows of its triplets."""
        if self.triplets != "perceived":
            images = images_together(batch, 3, caller=type(self).__name__)
            return images, given_triplets(images)
        rows = perceived_triplets(
            model, batch.images, self.n_triplets, generator=context.generator
        )
        return batch.images, rows

    def _add_triplet_loss(
        self,
        loss: Loss,
        posterior: Posterior,
        rows: TripletRows,
        context: LossContext,
    ) -> Loss:
        """Add the weighted mean triplet loss to the loss of the images.

        Args:
            loss: Loss of all images.
            posterior: Posteriors of all images.
            rows: Rows of the triplets among the images.
            context: Context with the step, for schedules.
        """
        anchors, positives, negatives = rows.of(posterior.mean)
        weights = self._negative_weights(posterior, rows, context)
        losses = triplet_loss(
            latent_distance(anchors, positives, self.p),
            latent_distance(weights * anchors, weights * negatives, self.p),
            kind=self.margin_kind,
            margin=context.value(self.margin),
        )
        triplet = mean_of_kept(losses, rows.is_kept)
        return Loss(
            loss.total + context.value(self.alpha) * triplet,
            {**loss.terms, "triplet": triplet},
            loss.kl_per_latent,
        )


@dataclass(frozen=True, kw_only=True)
class AbstractTripletVAE(AbstractTripletObjective, abc.ABC):
    """beta-VAE with a triplet loss between the means of the posteriors.

    Args:
        beta: Weight of the divergence from the prior, at least 0.
    """

    beta: Number = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss, weighted divergence and triplet loss."""
        images, rows = self._images_and_rows(model, batch, context)
        if not self.decoder:
            return self._encoder_loss(model, images, rows, context)
        evidence = measure_evidence(
            model, images, context, decoder_gradient=self.decoder_gradient
        )
        latent = context.value(self.beta) * evidence.mean_kl
        loss = evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent)
        )
        return self._add_triplet_loss(loss, evidence.posterior, rows, context)

    def _encoder_loss(
        self,
        model: Autoencoder,
        images: torch.Tensor,
        rows: TripletRows,
        context: LossContext,
    ) -> Loss:
        """Return weighted divergence and triplet loss, without a decoder."""
        posterior = encode_gaussian(model, images)
        kl_per_latent = posterior.kl_to_prior().mean(dim=0)
        kl = kl_per_latent.sum()
        total = self.combine_terms(
            model, kl.new_zeros(()), context.value(self.beta) * kl
        )
        loss = Loss(total, {"kl": kl}, kl_per_latent)
        return self._add_triplet_loss(loss, posterior, rows, context)


@dataclass(frozen=True, kw_only=True)
class AbstractTripletAE(AbstractTripletObjective, abc.ABC):
    """Autoencoder with a triplet loss between codes."""

    is_variational: ClassVar[bool] = False

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss and weighted triplet loss."""
        images, rows = self._images_and_rows(model, batch, context)
        posterior = model.encode(images)
        if not self.decoder:
            nothing = Loss(posterior.mean.new_zeros(()), {})
            return self._add_triplet_loss(nothing, posterior, rows, context)
        codes = posterior.mean if self.decoder_gradient else posterior.mean.detach()
        reconstruction = model.reconstruction_loss(images, codes).mean()
        loss = Loss(
            self.combine_terms(model, reconstruction),
            {"reconstruction": reconstruction},
        )
        return self._add_triplet_loss(loss, posterior, rows, context)
