"""TAE: an autoencoder whose distances are taught by triplets."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._triplet_base import AbstractTripletObjective


@dataclass(frozen=True, kw_only=True)
class TAE(AbstractTripletObjective):
    r"""Autoencoder with the triplet loss between codes.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} -\log p(x \mid e(x))
        + \alpha \max \bigl( 0, \psi + \|z^a - z^p\|_p - \|z^a - z^n\|_p \bigr)

    Args:
        alpha: Weight of the triplet loss, from 0. The scale leaves the triplet loss as
            it is, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: ``"hard"``, as in the formula, or ``"soft"``,
            :math:`\ln(1 + \exp(d^+ - d^-))`.
        margin: :math:`\psi`, from 0; hard only.
        p: Degree of the norm, 1 or 2.
        decoder_gradient: Whether reconstruction teaches the encoder. If not, the
            encoder learns from triplets alone.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, or ``"perceived"`` between images, without labels.
        n_triplets: Drawn inside each batch, if perceived.
        scale: ``"mean"`` over pixels, as in the dissertation, or ``"sum"``.

    References:
        Michlo (2022), dissertation, Eq. 5.1, 5.2 and 5.12, without the prior.
    """

    is_variational: ClassVar[bool] = False

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction and triplet loss."""
        del extra
        images, rows = self._images_and_rows(model, batch, generator)
        codes = model.encode(images).mean
        shown = codes if self.decoder_gradient else codes.detach()
        reconstruction = model.reconstruction_loss(images, shown).mean()
        triplet = self._triplet_term(codes, rows, step)
        return Loss(
            self.weighed(model, reconstruction, torch.zeros_like(reconstruction))
            + self._at("alpha", step) * triplet,
            {"reconstruction": reconstruction, "triplet": triplet},
        )
