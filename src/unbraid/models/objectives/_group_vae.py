"""GroupVAE: pairs of images, averaged in the latents of factors they share."""

from dataclasses import dataclass
from typing import get_args

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._adaptive import mean_posterior, measure_pairs
from ._known_sharing import ExtraLatents, known_shared_latents
from ._pair_base import AbstractPairObjective


@dataclass(frozen=True, kw_only=True)
class GroupVAE(AbstractPairObjective):
    r"""beta-VAE of pairs, with the mean posterior where their factors are equal.

    It is known which factors a pair shares, and latent ``i`` is told to hold factor
    ``i``: where the factors are equal, both images get
    the mean of the two posteriors.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence from the prior, from 0.
        extra_latents: Whether latents after the last factor are ``"private"`` to each
            image (the style of the original), or ``"shared"`` by every pair, as in
            disentanglement_lib.
        n_changed: Number of factors in which a pair differs, or the lowest and highest.
        pair_rule: How pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    Example:
        >>> GroupVAE().sampler()
        Pairs(n_changed=None, rule='uniform')

    References:
        Hosoya (2019), Group-based Learning of Disentangled Representations with
        Generalizability for Novel Contents. https://arxiv.org/abs/1809.02383. The
        original has one group of shared latents; a latent for each factor is how
        disentanglement_lib uses labels of what has changed.
    """

    beta: Number = 1.0
    extra_latents: ExtraLatents = "private"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_numbers("beta")
        self._check_option("extra_latents", get_args(ExtraLatents))

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
        is_shared = known_shared_latents(
            batch,
            model.n_latents,
            extra_latents=self.extra_latents,
            who="GroupVAE",
        )
        evidence = measure_pairs(
            model,
            batch,
            rule=lambda first, second: is_shared,
            average=mean_posterior,
            generator=generator,
            who="GroupVAE",
        )
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        return Loss(
            self.weighed(model, reconstruction, self._at("beta", step) * kl),
            {"reconstruction": reconstruction, "kl": kl},
            evidence.kl_per_latent,
        )
