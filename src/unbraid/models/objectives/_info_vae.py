"""InfoVAE: all codes together are to look like the prior, not each alone."""

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
    r"""Evidence lower bound that takes back information, and compares all codes.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)]
        + (1 - \alpha) \, KL(q(z \mid x) \| p(z))
        + (\alpha + \lambda - 1) \, MMD(q(z) \| p(z))

    The maximum mean discrepancy compares the codes of a batch with as many draws from
    the prior, without bias, so that it may be a little below zero. At ``alpha=0`` and
    ``lambda_prior=1`` this is :class:`VAE`.

    Args:
        alpha: How much information a code keeps for free, from ``1 - lambda_prior`` to
            1, so that no weight is negative.
        lambda_prior: :math:`\lambda`, how much all codes together must be like the
            prior, from 0. The discrepancy is below 2 however many latents and pixels
            there are, so that this must be large.
        kernel: ``"rbf"``, :math:`\exp(-d^2 / c)`, or ``"imq"``,
            :math:`c / (c + d^2)`, of codes at distance :math:`d`.
        bandwidth: Makes :math:`c` its square, times twice the number of latents: at 1,
            the mean squared distance of two draws from the prior.
        scale: ``"sum"`` over pixels and latents, or ``"mean"``.

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
        """Reconstruction, weighted divergence and weighted discrepancy."""
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
    """Squared maximum mean discrepancy of two samples, without bias, a scalar.

    Args:
        codes: ``(n, n_latents)``, n from 2.
        draws: Same shape.
        kernel: How alike two codes are.
        bandwidth: At which distance they count as alike.
    """
    reach = 2.0 * codes.shape[1] * bandwidth**2
    n = len(codes)
    both = torch.cat([codes, draws])
    # By products of codes: a table of their differences would be the step's largest.
    squares = both.square().sum(dim=1)
    apart = (squares[:, None] + squares - 2.0 * both @ both.T).clamp_min(0.0)
    alike = (-apart / reach).exp() if kernel == "rbf" else reach / (reach + apart)
    among_codes, among_draws = alike[:n, :n], alike[n:, n:]
    within = among_codes.sum() + among_draws.sum() - alike.diagonal().sum()
    return within / (n * (n - 1)) - 2.0 * alike[:n, n:].mean()
