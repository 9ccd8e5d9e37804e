"""Variational autoencoder: the evidence lower bound."""

from dataclasses import dataclass

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss

from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence


@dataclass(frozen=True, kw_only=True)
class VAE(AbstractObjective):
    r"""Negative evidence lower bound.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)] + KL(q(z \mid x) \| p(z))

    Args:
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Kingma and Welling (2014), Auto-Encoding Variational Bayes, Eq. 3.
        https://arxiv.org/abs/1312.6114
    """

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss plus divergence."""
        evidence = measure_evidence(model, batch.images, context)
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, evidence.mean_kl)
        )
