"""Ada-AE: autoencoder of pairs whose shared latents are inferred."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._adaptive import shared_latents
from ._base import LossContext
from ._companions import images_together
from ._pair_base import AbstractPairObjective


@dataclass(frozen=True, kw_only=True)
class AdaAE(AbstractPairObjective):
    r"""Autoencoder of pairs, with the mean code in latents that a pair shares.

    A latent is considered shared if its difference is below
    :math:`\tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i`, where
    :math:`\delta_i = |z_i - z'_i|`.

    Args:
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels.

    References:
        Michlo (2022), dissertation, Table 5.1, right column.
    """

    is_variational: ClassVar[bool] = False

    eta: Number = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("eta", most=1.0)

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return the reconstruction loss of both images with shared latents."""
        images = images_together(batch, 2, caller="AdaAE")
        first, second = model.encode(images).mean.chunk(2)
        is_shared = shared_latents((first - second).abs(), context.value(self.eta))
        common = 0.5 * (first + second)
        codes = torch.cat(
            [torch.where(is_shared, common, own) for own in (first, second)]
        )
        reconstruction = model.reconstruction_loss(images, codes).mean()
        total = self.combine_terms(model, reconstruction)
        return Loss(total, {"reconstruction": reconstruction})
