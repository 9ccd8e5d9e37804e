"""Free bits: every latent may say a little without paying for it."""

from dataclasses import dataclass

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models import Autoencoder, Loss, Number
from unbraid.models.objectives import AbstractObjective, measure_evidence


@dataclass(frozen=True, kw_only=True)
class FreeBitsVAE(AbstractObjective):
    r"""Evidence lower bound in which the first nats of every latent are free.

    A latent that has little to say is not pushed to say nothing, so that fewer of them
    die early in training. At 0 this is the VAE.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \sum_j \max \bigl( \lambda, KL(q(z_j \mid x) \| p(z_j)) \bigr)

    Args:
        free_bits: :math:`\lambda`, nats of each latent that cost nothing, from 0. The
            divergence is averaged over the batch before it is compared.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    References:
        Kingma et al. (2016), Improving Variational Inference with Inverse
        Autoregressive Flow, appendix C.8. https://arxiv.org/abs/1606.04934
    """

    free_bits: Number = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("free_bits")

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction plus what every latent says beyond its free nats."""
        del extra
        evidence = measure_evidence(model, batch.images, generator=generator)
        reconstruction = evidence.mean_reconstruction
        paid = evidence.kl_per_latent.clamp(min=self._at("free_bits", step)).sum()
        return Loss(
            self.weighed(model, reconstruction, paid),
            {"reconstruction": reconstruction, "kl": evidence.mean_kl, "paid": paid},
            evidence.kl_per_latent,
        )
