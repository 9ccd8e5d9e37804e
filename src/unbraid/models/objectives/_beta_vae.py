"""beta-VAE: a heavier price on what the code may say."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._base import AbstractObjective
from ._elbo import measure_evidence


@dataclass(frozen=True, kw_only=True)
class BetaVAE(AbstractObjective):
    r"""Evidence lower bound with a weighted divergence.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence, from 0.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    Example:
        >>> import dataclasses
        >>> dataclasses.replace(BetaVAE(), beta=8.0)
        BetaVAE(scale='sum', beta=8.0)

    References:
        Higgins et al. (2017), beta-VAE: Learning Basic Visual Concepts with a
        Constrained Variational Framework, Eq. 4.
        https://openreview.net/forum?id=Sy2fzU9gl
    """

    beta: Number = 4.0

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
        """Reconstruction plus weighted divergence."""
        del extra
        evidence = measure_evidence(model, batch.images, generator=generator)
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        return Loss(
            self.weighed(model, reconstruction, self._at("beta", step) * kl),
            {"reconstruction": reconstruction, "kl": kl},
            evidence.kl_per_latent,
        )
