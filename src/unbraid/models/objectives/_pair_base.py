"""Base classes of objectives that see pairs of images."""

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
    """Settings of the pairs that an objective sees.

    Args:
        n_changed: Number of factors in which a pair differs, or the lowest and highest
            number; when not given, all from 1. See :class:`unbraid.data.Pairs`.
        pair_rule: ``"uniform"`` or ``"disentanglement_lib"``, how pairs are drawn.
    """

    n_changed: int | tuple[int, int] | None = None
    pair_rule: PairRule = "uniform"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.n_changed, list):  # as read from a file
            object.__setattr__(self, "n_changed", tuple(self.n_changed))
        self.sampler()  # checks both settings

    def sampler(self) -> AbstractSampler:
        """Pairs that differ in some factors."""
        return Pairs(n_changed=self.n_changed, rule=self.pair_rule)


@dataclass(frozen=True, kw_only=True)
class AbstractPairVAE(AbstractPairObjective):
    r"""beta-VAE of pairs of images, which have one posterior in the latents they share.

    .. math::
        \frac{1}{2} \sum_{x \in \text{pair}}
        \mathbb{E}_{\tilde q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(\tilde q(z \mid x) \| p(z))

    In the latents that a pair shares, :math:`\tilde q` is the same for both images; in
    the others it is the encoder's posterior. Subclasses say which latents are shared,
    and how two posteriors become one.

    Args:
        beta: Weight of the divergence from the prior, from 0.

    References:
        Michlo (2022), dissertation, Eq. 2.10 and 2.11.
    """

    beta: Number = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta")

    @abc.abstractmethod
    def _shared_latents(
        self, batch: Batch, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> torch.Tensor:
        """Which latents each pair shares, ``(batch, n_latents)``."""

    @abc.abstractmethod
    def _average(
        self, first: DiagonalGaussian, second: DiagonalGaussian
    ) -> DiagonalGaussian:
        """One posterior in place of two."""

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Reconstruction plus weighted divergence, mean over both images."""
        images = images_together(batch, 2, who=type(self).__name__)
        first, second = split_posterior(encode_gaussian(model, images), 2)
        is_shared = self._shared_latents(batch, first, second)
        pair = share_latents(first, second, is_shared, self._average(first, second))
        evidence = measure_evidence(
            model, images, context, posterior=join_posteriors(*pair)
        )
        latent = context.value(self.beta) * evidence.mean_kl
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent)
        )
