"""TVAE: a beta-VAE whose distances are taught by triplets."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._triplet_base import AbstractTripletObjective
from ._triplet_terms import measure_with_decoder_apart


@dataclass(frozen=True, kw_only=True)
class TVAE(AbstractTripletObjective):
    r"""beta-VAE with the triplet loss between means.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} L_{\beta\text{-VAE}}(x)
        + \alpha \max \bigl( 0, \psi + \|\mu^a - \mu^p\|_p - \|\mu^a - \mu^n\|_p \bigr)

    Args:
        beta: Weight of the divergence from the prior, from 0.
        alpha: Weight of the triplet loss, from 0. The scale leaves the triplet loss as
            it is, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: ``"hard"``, as in the formula, or ``"soft"``,
            :math:`\ln(1 + \exp(d^+ - d^-))`.
        margin: :math:`\psi`, from 0; hard only.
        p: Degree of the norm, 1 or 2.
        decoder_gradient: Whether reconstruction teaches the encoder. If not, the
            divergence still does: with ``beta=0`` the triplet loss alone.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, or ``"perceived"`` between images, without labels.
        n_triplets: Drawn inside each batch, if perceived.
        scale: ``"mean"`` over pixels and latents, as in the dissertation, or ``"sum"``.

    Example:
        >>> TVAE().sampler()
        Triplets(distance='scaled', category=None, ties='resample', cyclic='line')

    References:
        Michlo (2022), dissertation, Eq. 5.1, 5.2 and 5.12; decoder's gradient, Figure
        5.3; defaults, Table A.5. After Ishfaq, Hoogi and Rubin (2018), TVAE.
        https://arxiv.org/abs/1802.04403
    """

    beta: Number = 0.01

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("beta")

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction, weighted divergence, and triplet loss."""
        del extra
        images, rows = self._images_and_rows(model, batch, generator)
        evidence = measure_with_decoder_apart(
            model,
            images,
            decoder_gradient=self.decoder_gradient,
            generator=generator,
        )
        triplet = self._triplet_term(evidence.posterior.mean, rows, step)
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        elbo = self.weighed(model, reconstruction, self._at("beta", step) * kl)
        return Loss(
            elbo + self._at("alpha", step) * triplet,
            {"reconstruction": reconstruction, "kl": kl, "triplet": triplet},
            evidence.kl_per_latent,
        )
