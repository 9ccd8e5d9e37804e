"""Ada-GVAE and Ada-ML-VAE: pairs whose shared latents are inferred."""

import abc
from dataclasses import dataclass

import torch

from unbraid.data import Batch
from unbraid.foundation import check_option
from unbraid.models._posterior import DiagonalGaussian

from ._adaptive import (
    Divergence,
    latent_divergence,
    mean_posterior,
    product_posterior,
    shared_latents,
)
from ._pair_base import AbstractPairVAE


@dataclass(frozen=True, kw_only=True)
class AbstractAdaptiveVAE(AbstractPairVAE, abc.ABC):
    """A pair shares the latents in which its posteriors differ little.

    Args:
        divergence: How posteriors of a latent are compared: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second.
    """

    divergence: Divergence = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("divergence", self.divergence, Divergence)

    def _shared_latents(
        self, batch: Batch, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> torch.Tensor:
        """Latents that diverge less than half way from the least to the most."""
        del batch
        return shared_latents(latent_divergence(first, second, self.divergence))


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AbstractAdaptiveVAE):
    r"""beta-VAE of pairs, with the mean posterior in latents that a pair shares.

    Two images that differ in few factors should differ in few latents. Latents whose
    posteriors diverge less than half way between the least and the most of the pair
    are taken to be shared, and both images get the mean of the two posteriors there,
    as in :class:`GroupVAE`.

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

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Mean of the means and of the variances."""
        return mean_posterior(first, second)


@dataclass(frozen=True, kw_only=True)
class AdaMLVAE(AbstractAdaptiveVAE):
    r"""beta-VAE of pairs, with the product posterior in latents that a pair shares.

    Shared latents are inferred as in :class:`AdaGVAE`. In these, both images get the
    product of the two posteriors, as in :class:`MLVAE`, in which the more certain one
    counts more.

    Args:
        beta: Weight of the divergence from the prior, from 0.
        divergence: How posteriors of a latent are compared: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second, as in the original.
        n_changed: Number of factors in which a pair differs, or the lowest and highest.
        pair_rule: How pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises,
        section 3. https://arxiv.org/abs/2002.02886. Symmetric divergence: Dittadi et
        al. (2021), https://arxiv.org/abs/2010.14407.
    """

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Product of the posteriors."""
        return product_posterior(first, second)
