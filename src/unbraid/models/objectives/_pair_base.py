"""Base classes of objectives that use pairs of images."""

import abc
from dataclasses import dataclass

import torch

from unbraid.data import AbstractSampler, Batch, PairRule, Pairs
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number

from ._adaptive import share_latents
from ._base import AbstractObjective, LossContext
from ._companions import images_together, join_posteriors, split_posterior
from ._elbo import encode_gaussian, measure_evidence


@dataclass(frozen=True, kw_only=True)
class AbstractPairObjective(AbstractObjective, abc.ABC):
    """Settings of the pairs that an objective uses.

    Args:
        n_changed: Number of factors that differ in a pair, or its lowest and highest
            value. Default: any number from 1. See :class:`unbraid.data.Pairs`.
        pair_rule: Rule by which pairs are drawn, ``"uniform"`` or
            ``"disentanglement_lib"``.
    """

    n_changed: int | tuple[int, int] | None = None
    pair_rule: PairRule = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.n_changed, list):  # as read from a file
            object.__setattr__(self, "n_changed", tuple(self.n_changed))
        self.sampler()  # checks both settings

    def sampler(self) -> AbstractSampler:
        """Return a sampler of pairs that differ in some factors."""
        return Pairs(n_changed=self.n_changed, rule=self.pair_rule)


@dataclass(frozen=True, kw_only=True)
class AbstractPairVAE(AbstractPairObjective):
    r"""beta-VAE of pairs of images, with a common posterior in shared latents.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    In the latents that a pair shares, :math:`\tilde q` is the same for both images; in
    the others it is the encoder's posterior. Subclasses define which latents are
    shared, and how two posteriors are combined.

    Args:
        beta: Weight of the divergence from the prior, at least 0.

    References:
        Michlo (2022), dissertation, Eq. 2.10 and 2.11.
    """

    beta: Number = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta")

    @abc.abstractmethod
    def _shared_latents(
        self,
        batch: Batch,
        first: DiagonalGaussian,
        second: DiagonalGaussian,
        context: LossContext,
    ) -> torch.Tensor:
        """Return whether each latent of a pair is shared, ``(batch, n_latents)``."""

    @abc.abstractmethod
    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """Combine two posteriors."""

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss plus weighted divergence, the mean of both."""
        images = images_together(batch, 2, caller=type(self).__name__)
        first, second = split_posterior(encode_gaussian(model, images), 2)
        is_shared = self._shared_latents(batch, first, second, context)
        pair = share_latents(first, second, is_shared, self._average(first, second))
        evidence = measure_evidence(
            model, images, context, posterior=join_posteriors(*pair)
        )
        latent = context.value(self.beta) * evidence.mean_kl
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent)
        )
