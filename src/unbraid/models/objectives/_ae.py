"""Autoencoder: reconstruction loss only."""

from dataclasses import dataclass
from typing import ClassVar

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractObjective, LossContext


@dataclass(frozen=True, kw_only=True)
class AE(AbstractObjective):
    r"""Reconstruction loss of a code without uncertainty.

    .. math:: -\log p(x \mid z), \qquad z = e(x)

    Args:
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels.

    References:
        Rumelhart, Hinton and Williams (1986), Learning Representations by
        Back-propagating Errors.
    """

    is_variational: ClassVar[bool] = False

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return the mean reconstruction loss."""
        codes = model.encode(batch.images).mean
        reconstruction = model.reconstruction_loss(batch.images, codes).mean()
        total = self.combine_terms(model, reconstruction)
        return Loss(total, {"reconstruction": reconstruction})
