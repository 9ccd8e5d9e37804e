"""Ada-TVAE: distances by triplets, along the axes of the code."""

from dataclasses import dataclass
from typing import Any, Self, get_args

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Linear, Number

from ._adaptive import latent_divergence
from ._adaptive_weights import (
    AdaptiveSchedule,
    SharedBy,
    adaptive_schedule,
    adaptive_weights,
)
from ._triplet_base import AbstractTripletObjective
from ._triplet_rows import TripletRows
from ._triplet_terms import measure_with_decoder_apart


@dataclass(frozen=True, kw_only=True)
class AdaTVAE(AbstractTripletObjective):
    r"""beta-VAE with the adaptive triplet loss.

    A triplet is in order when the anchor's code is nearer to the positive's than to
    the negative's. In the distance to the negative, latents that differ little count
    less, so that it is cheapest to put a difference into few latents.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} L_{\beta\text{-VAE}}(x)
        + \alpha \max \Bigl( 0, \psi + \|\mu^a - \mu^p\|_p
        - \|w \odot (\mu^a - \mu^n)\|_p \Bigr)

    with :math:`w_i = \omega` for the latents whose difference is below
    :math:`\tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i`, and 1 for others.

    Args:
        beta: Weight of the divergence from the prior, from 0.
        eta: Averaging strength :math:`\eta`, from 0 (nothing is shared) to 1.
        omega: Shared weight :math:`\omega`, from 0 to 1 (plain triplet loss).
        shared_by: What :math:`\delta` is: the ``"distance"`` of the means, or ``"kl"``,
            the symmetric divergence of the posteriors.
        alpha: Weight of the triplet loss, from 0. The scale leaves the triplet loss as
            it is, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: ``"hard"`` or ``"soft"``.
        margin: :math:`\psi`, from 0; hard only.
        p: Degree of the norm, 1 or 2.
        decoder_gradient: Whether reconstruction teaches the encoder.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, or ``"perceived"`` between images, without labels.
        n_triplets: Drawn inside each batch, if perceived.
        scale: ``"mean"`` over pixels and latents, as in the dissertation, or ``"sum"``.

    Example:
        >>> AdaTVAE.scheduled("both_strong").over(100).omega.at(50)
        0.5
        >>> AdaTVAE(triplets="perceived").sampler()
        Singles()

    References:
        Michlo (2022), dissertation, Eq. 5.16 to 5.22; without labels, section 5.5;
        defaults, Table A.5 and schedule 2 of Table 5.2. If perceived, the first term is
        the mean over the batch in which the triplets are drawn, and triplets whose
        distances are equal are left out.
    """

    beta: Number = 0.01
    eta: Number = 0.5
    omega: Number = Linear(start=1.0, end=0.5)
    shared_by: SharedBy = "distance"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("beta")
        self._check_numbers("eta", "omega", most=1.0)
        self._check_option("shared_by", get_args(SharedBy))

    @classmethod
    def scheduled(cls, name: AdaptiveSchedule, **options: Any) -> Self:
        """The objective with a schedule of Table 5.2.

        Args:
            name: ``"threshold"``, ``"weight_weak"``, ``"weight_strong"``,
                ``"both_weak"`` or ``"both_strong"``.
            options: Other fields.
        """
        return cls(**adaptive_schedule(name), **options)

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction, weighted divergence, and adaptive triplet loss."""
        del extra
        images, rows = self._images_and_rows(model, batch, generator)
        evidence = measure_with_decoder_apart(
            model,
            images,
            decoder_gradient=self.decoder_gradient,
            generator=generator,
        )
        weights = adaptive_weights(
            self._deltas(evidence.posterior, rows),
            eta=self._at("eta", step),
            omega=self._at("omega", step),
        )
        triplet = self._triplet_term(evidence.posterior.mean, rows, step, weights)
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        elbo = self.weighed(model, reconstruction, self._at("beta", step) * kl)
        return Loss(
            elbo + self._at("alpha", step) * triplet,
            {"reconstruction": reconstruction, "kl": kl, "triplet": triplet},
            evidence.kl_per_latent,
        )

    def _deltas(self, posterior: DiagonalGaussian, rows: TripletRows) -> torch.Tensor:
        """How much anchors and negatives differ, ``(n_triplets, n_latents)``."""
        anchors, _, negatives = rows.of(posterior.mean)
        if self.shared_by == "distance":
            return (anchors - negatives).abs()
        anchor_spread, _, negative_spread = rows.of(posterior.log_variance)
        return latent_divergence(
            DiagonalGaussian(anchors, anchor_spread),
            DiagonalGaussian(negatives, negative_spread),
            "symmetric",
        )
