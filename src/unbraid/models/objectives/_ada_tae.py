"""Ada-TAE: distances by triplets, along the axes of a code without uncertainty."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Linear, Number

from ._adaptive_weights import AdaptiveSchedule, adaptive_schedule, adaptive_weights
from ._triplet_base import AbstractTripletObjective


@dataclass(frozen=True, kw_only=True)
class AdaTAE(AbstractTripletObjective):
    r"""Autoencoder with the adaptive triplet loss.

    As :class:`AdaTVAE`, with codes in place of means, and without a prior.

    .. math::
        \frac{1}{3} \sum_{x \in \text{triplet}} -\log p(x \mid e(x))
        + \alpha \max \Bigl( 0, \psi + \|z^a - z^p\|_p
        - \|w \odot (z^a - z^n)\|_p \Bigr)

    Args:
        eta: Averaging strength :math:`\eta`, from 0 (nothing is shared) to 1.
        omega: Shared weight :math:`\omega`, from 0 to 1 (plain triplet loss).
        alpha: Weight of the triplet loss, from 0. The scale leaves the triplet loss as
            it is, so that ``alpha_mean = alpha_sum / n_pixels``.
        margin_kind: ``"hard"`` or ``"soft"``.
        margin: :math:`\psi`, from 0; hard only.
        p: Degree of the norm, 1 or 2.
        decoder_gradient: Whether reconstruction teaches the encoder.
        triplets: Distance that orders triplets: ``"scaled"``, ``"l1"`` or ``"changed"``
            between factors, or ``"perceived"`` between images, without labels.
        n_triplets: Drawn inside each batch, if perceived.
        scale: ``"mean"`` over pixels, as in the dissertation, or ``"sum"``.

    References:
        Michlo (2022), dissertation, Table 5.1, right column, and Eq. 5.16 to 5.21.
    """

    is_variational: ClassVar[bool] = False

    eta: Number = 0.5
    omega: Number = Linear(start=1.0, end=0.5)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("eta", "omega", most=1.0)

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
        """Reconstruction and adaptive triplet loss."""
        del extra
        images, rows = self._images_and_rows(model, batch, generator)
        codes = model.encode(images).mean
        shown = codes if self.decoder_gradient else codes.detach()
        reconstruction = model.reconstruction_loss(images, shown).mean()
        anchors, _, negatives = rows.of(codes)
        weights = adaptive_weights(
            (anchors - negatives).abs(),
            eta=self._at("eta", step),
            omega=self._at("omega", step),
        )
        triplet = self._triplet_term(codes, rows, step, weights)
        return Loss(
            self.weighed(model, reconstruction, torch.zeros_like(reconstruction))
            + self._at("alpha", step) * triplet,
            {"reconstruction": reconstruction, "triplet": triplet},
        )
