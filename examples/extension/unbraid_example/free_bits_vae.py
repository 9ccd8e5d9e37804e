"""Free bits: every latent may say a little without paying for it."""

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
    r"""Evidence lower bound in which the first nats of every latent are free.

    A latent that has little to say is not pushed to say nothing, so that fewer of them
    die early in training. At 0 this is the VAE.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + \sum_j \max \bigl( \lambda, KL(q(z_j \mid x) \| p(z_j)) \bigr)

    Args:
        free_bits: :math:`\lambda`, nats of each latent that cost nothing, from 0. The
            divergence is averaged over the batch before it is compared.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

    References:
        Kingma et al. (2016), Improving Variational Inference with Inverse
        Autoregressive Flow, appendix C.8. https://arxiv.org/abs/1606.04934
    """

    free_bits: Number = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("free_bits")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Reconstruction plus what every latent says beyond its free nats."""
        evidence = measure_evidence(model, batch.images, context)
        free_bits = context.value(self.free_bits)
        paid = evidence.kl_per_latent.clamp(min=free_bits).sum()
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, paid), paid=paid
        )
