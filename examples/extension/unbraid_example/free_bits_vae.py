"""The free bits objective."""

from dataclasses import dataclass

from unbraid.data import Batch
from unbraid.models import Autoencoder, Loss, Number
from unbraid.models.objectives import (
    AbstractObjective,
    LossContext,
    measure_evidence,
)


@dataclass(frozen=True, kw_only=True)
class FreeBitsVAE(AbstractObjective):
    r"""Evidence lower bound with a minimum KL divergence per latent.

    The KL divergence of a latent is penalized only above the minimum, so that fewer
    latents become inactive early in training. With a minimum of 0, this is the VAE.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \sum_j \max \bigl( \lambda, KL(q(z_j \mid x) \| p(z_j)) \bigr)

    Args:
        free_bits: Minimum :math:`\lambda` in nats, at least 0. The KL divergence is
            averaged over the batch before it is compared.
        scale: Reduction over pixels and latents, ``"sum"`` or ``"mean"``.

    References:
        Kingma et al. (2016), Improving Variational Inference with Inverse
        Autoregressive Flow, appendix C.8. https://arxiv.org/abs/1606.04934
    """

    free_bits: Number = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("free_bits")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return the reconstruction loss plus the clamped KL divergence."""
        evidence = measure_evidence(model, batch.images, context)
        free_bits = context.value(self.free_bits)
        paid = evidence.kl_per_latent.clamp(min=free_bits).sum()
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, paid), paid=paid
        )
