"""Variational autoencoder: the evidence lower bound."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractObjective
from ._elbo import measure_evidence


@dataclass(frozen=True, kw_only=True)
class VAE(AbstractObjective):
    r"""Negative evidence lower bound.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)] + KL(q(z \mid x) \| p(z))

    Args:
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    References:
        Kingma and Welling (2014), Auto-Encoding Variational Bayes, Eq. 3.
        https://arxiv.org/abs/1312.6114
    """

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction plus divergence."""
        del step, extra
        evidence = measure_evidence(model, batch.images, generator=generator)
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        return Loss(
            self.weighed(model, reconstruction, kl),
            {"reconstruction": reconstruction, "kl": kl},
            evidence.kl_per_latent,
        )
