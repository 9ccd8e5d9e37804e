"""beta-VAE: a weighted divergence from the prior."""

from dataclasses import dataclass

from unbraid.data import Batch
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number

from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence


@dataclass(frozen=True, kw_only=True)
class BetaVAE(AbstractObjective):
    r"""Evidence lower bound with a weighted divergence.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \beta \, KL(q(z \mid x) \| p(z))

    Args:
        beta: Weight of the divergence, at least 0.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    Example:
        >>> import dataclasses
        >>> dataclasses.replace(BetaVAE(), beta=8.0)
        BetaVAE(scale='sum', beta=8.0)

    References:
        Higgins et al. (2017), beta-VAE: Learning Basic Visual Concepts with a
        Constrained Variational Framework, Eq. 4.
        https://openreview.net/forum?id=Sy2fzU9gl
    """

    beta: Number = 4.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("beta")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss plus weighted divergence."""
        evidence = measure_evidence(model, batch.images, context)
        latent = context.value(self.beta) * evidence.mean_kl
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent)
        )
