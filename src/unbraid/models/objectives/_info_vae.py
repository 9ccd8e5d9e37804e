"""InfoVAE: the aggregate posterior should match the prior."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from unbraid.data import Batch
from unbraid.foundation import check_option, check_positive
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number, schedule_ends

from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence

Kernel = Literal["rbf", "imq"]


@dataclass(frozen=True, kw_only=True)
class InfoVAE(AbstractObjective):
    r"""Evidence lower bound with a discrepancy of the aggregate posterior and prior.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + (1 - \alpha) \, KL(q(z \mid x) \| p(z))
        + (\alpha + \lambda - 1) \, MMD(q(z) \| p(z))

    The unbiased maximum mean discrepancy compares the codes of a batch with as many
    samples of the prior; it may be slightly negative. With ``alpha=0`` and
    ``lambda_prior=1`` this is :class:`VAE`.

    Args:
        alpha: Preference :math:`\alpha` for mutual information between image and code,
            between ``1 - lambda_prior`` and 1, so that no weight is negative.
        lambda_prior: Weight :math:`\lambda` of the discrepancy between aggregate
            posterior and prior, at least 0. The discrepancy is below 2 for any number
            of latents and pixels, so that this weight must be large.
        kernel: Kernel of codes at distance :math:`d`: ``"rbf"``,
            :math:`\exp(-d^2 / c)`, or ``"imq"``, :math:`c / (c + d^2)`.
        bandwidth: Square root of :math:`c` divided by twice the number of latents. With
            a bandwidth of 1, :math:`c` is the mean squared distance of two samples of
            the prior.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Zhao, Song and Ermon (2017), InfoVAE: Information Maximizing Variational
        Autoencoders. https://arxiv.org/abs/1706.02262
        Gretton et al. (2012), A Kernel Two-Sample Test, Eq. 3 (without bias).
    """

    least_batch: ClassVar[int] = 2

    alpha: Number = 0.0
    lambda_prior: Number = 1000.0
    kernel: Kernel = "rbf"
    bandwidth: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", least=-math.inf)
        self.check_numbers("lambda_prior")
        check_option("kernel", self.kernel, Kernel)
        check_positive("bandwidth", self.bandwidth)
        alpha, weight = self.alpha, self.lambda_prior
        alphas, weights = schedule_ends(alpha), schedule_ends(weight)
        if max(alphas) > 1.0 or min(alphas) + min(weights) < 1.0:
            raise ValueError(
                "alpha must be between 1 - lambda_prior and 1, so that no term has a "
                f"negative weight, got alpha={alpha!r} and lambda_prior={weight!r}."
            )

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss, weighted divergence and discrepancy."""
        evidence = measure_evidence(model, batch.images, context)
        draws = torch.empty_like(evidence.codes).normal_(generator=context.generator)
        discrepancy = mean_discrepancy(
            evidence.codes, draws, kernel=self.kernel, bandwidth=self.bandwidth
        )
        alpha = context.value(self.alpha)
        weight = alpha + context.value(self.lambda_prior) - 1.0
        latent = (1.0 - alpha) * evidence.mean_kl + weight * discrepancy
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent),
            discrepancy=discrepancy,
        )


def mean_discrepancy(
    codes: torch.Tensor, draws: torch.Tensor, *, kernel: Kernel, bandwidth: float
) -> torch.Tensor:
    """Unbiased squared maximum mean discrepancy of two samples, a scalar.

    Args:
        codes: First sample ``(n, n_latents)``, with at least two rows.
        draws: Second sample, of the same shape.
        kernel: Kernel, ``"rbf"`` or ``"imq"``.
        bandwidth: Bandwidth of the kernel, see :class:`InfoVAE`.
    """
    width = 2.0 * codes.shape[1] * bandwidth**2
    n = len(codes)
    both = torch.cat([codes, draws])
    # From products, because all differences would be the largest tensor of the step.
    squares = both.square().sum(dim=1)
    distances = (squares[:, None] + squares - 2.0 * both @ both.T).clamp_min(0.0)
    if kernel == "rbf":
        affinities = (-distances / width).exp()
    else:
        affinities = width / (width + distances)
    within = affinities[:n, :n].sum() + affinities[n:, n:].sum()
    within = within - affinities.diagonal().sum()
    return within / (n * (n - 1)) - 2.0 * affinities[:n, n:].mean()
