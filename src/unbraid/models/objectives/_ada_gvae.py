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
        divergence: Divergence between two posteriors: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second.
    """

    divergence: Divergence = "symmetric"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("divergence", self.divergence, Divergence)

    def _shared_latents(
        self, batch: Batch, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> torch.Tensor:
        """Return latents whose divergence is below the middle of its range."""
        del batch
        return shared_latents(latent_divergence(first, second, self.divergence))


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AbstractAdaptiveVAE):
    r"""beta-VAE of pairs, with the mean posterior in latents that a pair shares.

    Two images that differ in few factors should differ in few latents. Latents whose
    divergence is below the middle between the lowest and the highest of the pair are
    considered shared. In these, both images get the mean of the two posteriors, as in
    :class:`GroupVAE`.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        divergence: Divergence between two posteriors: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second, as in the original.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

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
        """Return the mean of the means and of the variances."""
        return mean_posterior(first, second)


@dataclass(frozen=True, kw_only=True)
class AdaMLVAE(AbstractAdaptiveVAE):
    r"""beta-VAE of pairs, with the product posterior in latents that a pair shares.

    Shared latents are inferred as in :class:`AdaGVAE`. In these, both images get the
    product of the two posteriors, as in :class:`MLVAE`, in which the more certain one
    counts more.

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        divergence: Divergence between two posteriors: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second, as in the original.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises,
        section 3. https://arxiv.org/abs/2002.02886. Symmetric divergence: Dittadi et
        al. (2021), https://arxiv.org/abs/2010.14407.
    """

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Return the product of the posteriors."""
        return product_posterior(first, second)
