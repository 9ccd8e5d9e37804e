"""Ada-GVAE and Ada-ML-VAE: pairs whose shared latents are inferred."""

import abc
from dataclasses import dataclass, field

import torch

from unbraid.data import Batch
from unbraid.foundation import OMIT_DEFAULT, check_option
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number

from ._adaptive import (
    Divergence,
    SharedBy,
    latent_differences,
    mean_posterior,
    product_posterior,
    shared_latents,
)
from ._base import LossContext
from ._pair_base import AbstractPairVAE


@dataclass(frozen=True, kw_only=True)
class AbstractAdaptiveVAE(AbstractPairVAE, abc.ABC):
    r"""A pair shares the latents in which its posteriors differ little.

    Args:
        divergence: Divergence between two posteriors: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second; used if
            ``shared_by="kl"`` only.
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1.
        shared_by: Difference between two posteriors: their divergence (``"kl"``), or
            the ``"distance"`` of their means.
    """

    divergence: Divergence = "symmetric"
    eta: Number = field(default=0.5, metadata=OMIT_DEFAULT)
    shared_by: SharedBy = field(default="kl", metadata=OMIT_DEFAULT)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("divergence", self.divergence, Divergence)
        check_option("shared_by", self.shared_by, SharedBy)
        self.check_numbers("eta", most=1.0)

    def _shared_latents(
        self,
        batch: Batch,
        first: DiagonalGaussian,
        second: DiagonalGaussian,
        context: LossContext,
    ) -> torch.Tensor:
        """Return latents whose difference is below the threshold."""
        del batch
        deltas = latent_differences(
            first, second, shared_by=self.shared_by, divergence=self.divergence
        )
        return shared_latents(deltas, context.value(self.eta))


@dataclass(frozen=True, kw_only=True)
class AdaGVAE(AbstractAdaptiveVAE):
    r"""beta-VAE of pairs, with the mean posterior in latents that a pair shares.

    Two images that differ in few factors should differ in few latents. Latents whose
    difference :math:`\delta_i` is below a threshold between the lowest and the highest
    of the pair, :math:`\tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i`, are
    considered shared. In these, both images get the mean of the two posteriors, as in
    :class:`GroupVAE`.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence from the prior, at least 0.
        divergence: Divergence between two posteriors: ``"symmetric"``, or
            ``"one_sided"`` from the first image to the second, as in the original; used
            if ``shared_by="kl"`` only.
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1. One
            half is the threshold of the original.
        shared_by: Difference :math:`\delta`: ``"kl"``, the divergence of the posteriors
            as in the original, or the ``"distance"`` of their means.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    Example:
        >>> AdaGVAE().sampler()
        Pairs(n_changed=None, rule='uniform')
        >>> from unbraid.models import Linear
        >>> rising = AdaGVAE(shared_by="distance", eta=Linear(start=0.0, end=0.5))
        >>> rising.over(100).eta.at(50)
        0.25

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises,
        section 3. https://arxiv.org/abs/2002.02886. Symmetric divergence: Dittadi et
        al. (2021), https://arxiv.org/abs/2010.14407. Averaging strength and distance:
        Michlo (2022), dissertation, Eq. 5.16 and Table 5.1, "Adaptive VAEs (Ours)".
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
            ``"one_sided"`` from the first image to the second, as in the original; used
            if ``shared_by="kl"`` only.
        eta: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1. One
            half is the threshold of the original.
        shared_by: Difference :math:`\delta`: ``"kl"``, the divergence of the posteriors
            as in the original, or the ``"distance"`` of their means.
        n_changed: Number of factors that differ in a pair, or its minimum and maximum.
        pair_rule: Rule by which pairs are drawn, see :class:`unbraid.data.Pairs`.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Locatello et al. (2020), Weakly-Supervised Disentanglement Without Compromises,
        section 3. https://arxiv.org/abs/2002.02886. Symmetric divergence: Dittadi et
        al. (2021), https://arxiv.org/abs/2010.14407. Averaging strength and distance:
        Michlo (2022), dissertation, Eq. 5.16 and Table 5.1, "Adaptive VAEs (Ours)".
    """

    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Return the product of the posteriors."""
        return product_posterior(first, second)
