"""GroupVAE and ML-VAE: pairs whose shared factors are known."""

import abc
from dataclasses import dataclass

import torch

from unbraid.data import Batch
from unbraid.foundation import check_option
from unbraid.models._posterior import DiagonalGaussian

from ._adaptive import mean_posterior, product_posterior
from ._base import LossContext
from ._known_sharing import ExtraLatents, known_shared_latents
from ._pair_base import AbstractPairVAE


@dataclass(frozen=True, kw_only=True)
class AbstractGroupVAE(AbstractPairVAE, abc.ABC):
    """A pair shares the latents of the factors that are equal in both images.

    Args:
        extra_latents: Whether latents after the last factor are ``"private"`` to each
            image or ``"shared"`` by every pair.
    """

    extra_latents: ExtraLatents = "private"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("extra_latents", self.extra_latents, ExtraLatents)

    def _shared_latents(
        self,
        batch: Batch,
        first: DiagonalGaussian,
        second: DiagonalGaussian,
        context: LossContext,
    ) -> torch.Tensor:
        """Return latents whose factors are equal in both images."""
        del second, context
        return known_shared_latents(
            batch,
            first.mean.shape[1],
            extra_latents=self.extra_latents,
            caller=type(self).__name__,
        )


@dataclass(frozen=True, kw_only=True)
class GroupVAE(AbstractGroupVAE):
    r"""beta-VAE of pairs, with the mean posterior where their factors are equal.

    The factors that a pair shares are known, and latent ``i`` encodes factor ``i``.
    Where the factors are equal, both images get the mean of the two posteriors,

    .. math::
        \tilde\mu = \tfrac{1}{2} (\mu_1 + \mu_2), \qquad
        \tilde\sigma^2 = \tfrac{1}{2} (\sigma_1^2 + \sigma_2^2)

    and the loss is

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        extra_latents: Whether latents after the last factor are ``"private"`` to each
            image (the style of the original), or ``"shared"`` by every pair, as in
            disentanglement_lib.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    Example:
        >>> GroupVAE().sampler()
        Pairs(n_changed=None, rule='uniform')

    References:
        Hosoya (2019), Group-based Learning of Disentangled Representations with
        Generalizability for Novel Contents. https://arxiv.org/abs/1809.02383. The
        original has one group of shared latents; a latent for each factor is how
        disentanglement_lib uses labels of what has changed.
    """

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Return the mean of the means and of the variances."""
        return mean_posterior(first, second)


@dataclass(frozen=True, kw_only=True)
class MLVAE(AbstractGroupVAE):
    r"""beta-VAE of pairs, with the product posterior where their factors are equal.

    As :class:`GroupVAE`, but where the factors are equal, both images get the product
    of the two posteriors, with the harmonic mean of their variances:

    .. math::
        \tilde\sigma^2 = \frac{2 \sigma_1^2 \sigma_2^2}{\sigma_1^2 + \sigma_2^2}, \qquad
        \tilde\mu = \frac{\tilde\sigma^2}{2}
        \Bigl( \frac{\mu_1}{\sigma_1^2} + \frac{\mu_2}{\sigma_2^2} \Bigr)

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        extra_latents: Whether latents after the last factor are ``"private"`` to each
            image (the style of the original), or ``"shared"`` by every pair, as in
            disentanglement_lib.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Bouchacourt, Tomioka and Nowozin (2018), Multi-Level Variational Autoencoder.
        https://arxiv.org/abs/1705.08841. The original has one group of shared latents;
        a latent for each factor is how disentanglement_lib uses labels of what has
        changed.
    """

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Return the product of the posteriors."""
        return product_posterior(first, second)
