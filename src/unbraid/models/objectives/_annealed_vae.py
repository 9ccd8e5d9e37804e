"""Annealed VAE: the capacity of the code increases during training."""

from dataclasses import dataclass

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Linear, Number

from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence


@dataclass(frozen=True, kw_only=True)
class AnnealedVAE(AbstractObjective):
    r"""Evidence lower bound whose divergence is held at an increasing capacity.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \gamma \, \bigl| KL(q(z \mid x) \| p(z)) - C_t \bigr|

    Without capacity (:math:`C_t = 0`) this is :class:`BetaVAE` with ``beta = gamma``,
    and therefore :class:`VAE` if ``gamma=1``. If ``gamma=0``, only reconstruction is
    left.

    Args:
        capacity: Capacity :math:`C_t` in nats, at least 0. By default it increases
            linearly to 25 during the first third of the run, as in the large study,
            whose runs of 300,000 steps reach it after 100,000.
        gamma: Weight of the difference between divergence and capacity, at least 0.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    Example:
        >>> AnnealedVAE().over(300_000).capacity.at(50_000)
        12.5

    References:
        Burgess et al. (2018), Understanding Disentangling in beta-VAE, Eq. 8.
        https://arxiv.org/abs/1804.03599
        The divergence is averaged over the batch before it is compared with the
        capacity, as in disentanglement_lib.
    """

    capacity: Number = Linear(start=0.0, end=25.0, share=1 / 3)
    gamma: Number = 1000.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("capacity", "gamma")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss plus weighted deviation from the capacity."""
        evidence = measure_evidence(model, batch.images, context)
        excess = (evidence.mean_kl - context.value(self.capacity)).abs()
        latent = context.value(self.gamma) * excess
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent),
            excess=excess,
        )
