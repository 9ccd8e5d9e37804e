"""Ada-GVAE: pairs of images, whose shared latents are guessed and averaged."""

from dataclasses import dataclass
from typing import get_args

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number

from ._adaptive import (
    Divergence,
    latent_divergence,
    mean_posterior,
    measure_pairs,
    shared_latents,
)
from ._pair_base import AbstractPairObjective


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AbstractPairObjective):
    r"""beta-VAE of pairs, with the mean posterior in latents that a pair shares.

    Two images that differ in few factors should differ in few latents. Latents whose
    posteriors diverge less than half way between the least and the most of the pair
    are taken to be shared, and both images get the mean of the two posteriors there.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence from the prior, from 0.
        divergence: How posteriors of a latent are compared: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second, as in the original.
        n_changed: Number of factors in which a pair differs, or the lowest and highest.
        pair_rule: How pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    Example:
        >>> AdaGVAE().sampler()
        Pairs(n_changed=None, rule='uniform')

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises,
        section 3. https://arxiv.org/abs/2002.02886. Symmetric divergence: Dittadi et
        al. (2021), https://arxiv.org/abs/2010.14407.
    """

    beta: Number = 1.0
    divergence: Divergence = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("beta")
        self._check_option("divergence", get_args(Divergence))

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction plus weighted divergence, mean over both images."""
        del extra
        evidence = measure_pairs(
            model,
            batch,
            rule=self._is_shared,
            average=mean_posterior,
            generator=generator,
            who="AdaGVAE",
        )
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        return Loss(
            self.weighed(model, reconstruction, self._at("beta", step) * kl),
            {"reconstruction": reconstruction, "kl": kl},
            evidence.kl_per_latent,
        )

    def _is_shared(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> torch.Tensor:
        return shared_latents(latent_divergence(first, second, self.divergence))
