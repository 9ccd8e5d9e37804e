"""FactorVAE: a discriminator estimates the total correlation of the latents."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import nn
from torch.nn import functional

from unbraid.data import AbstractSampler, Batch, Independent, Singles
from unbraid.foundation import (
    check_integer,
    check_number,
    check_option,
    check_sequence,
)
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._frozen import apply_frozen
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number
from unbraid.models.networks import Discriminator

from ._base import AbstractAdversarialObjective, LossContext
from ._elbo import encode_gaussian, measure_evidence

Permuted = Literal["same batch", "second batch"]


@dataclass(frozen=True, kw_only=True)
class FactorVAE(AbstractAdversarialObjective):
    r"""Evidence lower bound plus the total correlation, estimated by a discriminator.

    The discriminator :math:`D` learns to distinguish codes from codes whose latents
    were shuffled among images, each latent separately. Its log-odds estimate the total
    correlation. With ``gamma=0`` this is :class:`VAE`.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)] + KL(q(z \mid x) \| p(z))
        + \gamma \, \mathbb{E}_{q(z)} \Bigl[ \log \frac{D(z)}{1 - D(z)} \Bigr]

    Args:
        gamma: Weight of the total correlation, at least 0. The large study uses 10, 20,
            30, 40, 50 and 100.
        permute: Codes to shuffle for the discriminator: those of the ``"same batch"``,
            as in disentanglement_lib, or those of a ``"second batch"``, drawn
            independently of the first, as published. The latter needs more images.
        discriminator_width: Number of units of each hidden layer of the discriminator.
        discriminator_depth: Number of hidden layers of the discriminator.
        discriminator_learning_rate: Learning rate of the discriminator's Adam
            optimizer, at least 0.
        discriminator_betas: Decay rates of the discriminator's Adam optimizer.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Kim and Mnih (2018), Disentangling by Factorizing, Eq. 2 and 3, Algorithm 2.
        https://arxiv.org/abs/1802.05983
        The discriminator is trained after the model's update, on newly sampled codes.
    """

    least_batch: ClassVar[int] = 2

    gamma: Number = 10.0
    permute: Permuted = "same batch"
    discriminator_width: int = 1000
    discriminator_depth: int = 6
    discriminator_learning_rate: float = 1e-4
    discriminator_betas: tuple[float, float] = (0.5, 0.9)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("gamma", "discriminator_learning_rate")
        check_option("permute", self.permute, Permuted)
        check_integer("discriminator_width", self.discriminator_width, least=1)
        check_integer("discriminator_depth", self.discriminator_depth, least=1)
        check_sequence("discriminator_betas", self.discriminator_betas, length=2)
        for index, beta in enumerate(self.discriminator_betas):
            check_number(f"discriminator_betas[{index}]", beta, least=0.0, below=1.0)

    def sampler(self) -> AbstractSampler:
        """Return a sampler that adds independent images for a second batch."""
        return Independent() if self.permute == "second batch" else Singles()

    def build_extra(self, model: Autoencoder) -> nn.Module:
        """Build the discriminator."""
        return Discriminator(
            model.n_latents,
            width=self.discriminator_width,
            depth=self.discriminator_depth,
        )

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss, divergence and weighted total correlation."""
        assert context.extra is not None
        evidence = measure_evidence(model, batch.images, context)
        logits = apply_frozen(context.extra, evidence.codes)
        correlation = (logits[:, 0] - logits[:, 1]).mean()
        latent = evidence.mean_kl + context.value(self.gamma) * correlation
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent),
            total_correlation=correlation,
        )

    def adversary_loss(
        self, model: Autoencoder, batch: Batch, context: LossContext
    ) -> Loss:
        """Return the cross-entropy of codes (class 0) and shuffled codes (class 1)."""
        assert context.extra is not None
        generator = context.generator
        with torch.no_grad():
            codes = encode_gaussian(model, batch.images).sample(generator=generator)
            others = codes
            if self.permute == "second batch":
                second = encode_gaussian(model, batch.partner_images[0])
                others = second.sample(generator=generator)
            shuffled = _shuffle_each_latent(others, generator)
        logits = context.extra(torch.cat([codes, shuffled]))
        classes = torch.arange(2, device=logits.device).repeat_interleave(len(codes))
        return Loss(functional.cross_entropy(logits, classes))

    def adversary_optimizer(self, adversary: nn.Module) -> torch.optim.Optimizer:
        """Return an Adam optimizer of the discriminator."""
        return torch.optim.Adam(
            adversary.parameters(),
            lr=self.discriminator_learning_rate,
            betas=(self.discriminator_betas[0], self.discriminator_betas[1]),
            fused=True,
        )


def _shuffle_each_latent(
    codes: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    """Shuffle each latent separately among the images."""
    keys = torch.empty_like(codes).uniform_(generator=generator)
    return codes.gather(0, keys.argsort(dim=0))
