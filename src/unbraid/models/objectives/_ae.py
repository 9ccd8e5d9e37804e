"""Autoencoder: reconstruction alone."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractObjective


@dataclass(frozen=True, kw_only=True)
class AE(AbstractObjective):
    r"""Reconstruction from a code without uncertainty.

    .. math:: -\log p(x \mid z), \qquad z = e(x)

    Args:
        scale: ``"sum"`` over pixels, or ``"mean"``.

    References:
        Rumelhart, Hinton and Williams (1986), Learning Representations by
        Back-propagating Errors.
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
        """Mean reconstruction loss."""
        del step, generator, extra
        codes = model.encode(batch.images).mean
        reconstruction = model.reconstruction_loss(batch.images, codes).mean()
        total = self.weighed(model, reconstruction, torch.zeros_like(reconstruction))
        return Loss(total, {"reconstruction": reconstruction})
