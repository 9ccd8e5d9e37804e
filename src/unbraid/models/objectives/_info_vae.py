"""InfoVAE: all codes together are to look like the prior, not each alone."""

import math
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import torch
from torch import nn

from unbraid.data import Batch
from unbraid.foundation import is_number
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._schedules import Number, schedule_ends

from ._base import AbstractObjective
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
        self._check_numbers("alpha", least=-math.inf)
        self._check_numbers("lambda_prior")
        if self.kernel not in get_args(Kernel):
            raise ValueError(
                f"InfoVAE: expected kernel 'rbf' or 'imq', got {self.kernel!r}."
            )
        if not is_number(self.bandwidth, above=0.0):
            raise ValueError(
                f"InfoVAE: expected a bandwidth above 0, got {self.bandwidth!r}."
            )
        alpha, weight = self.alpha, self.lambda_prior
        alphas, weights = schedule_ends(alpha), schedule_ends(weight)
        if max(alphas) > 1.0 or min(alphas) + min(weights) < 1.0:
            raise ValueError(
                "InfoVAE: expected alpha from 1 - lambda_prior to 1, got alpha "
                f"{alpha!r} and lambda_prior {weight!r}. Otherwise one of the terms "
                "would be made large."
            )

    def loss(
        self,
        model: Autoencoder,
        batch: Batch,
        *,
        step: int,
        generator: torch.Generator,
        extra: nn.Module | None = None,
    ) -> Loss:
        """Reconstruction, weighted divergence and weighted discrepancy."""
        del extra
        evidence = measure_evidence(model, batch.images, generator=generator)
        reconstruction, kl = evidence.mean_reconstruction, evidence.mean_kl
        draws = torch.empty_like(evidence.codes).normal_(generator=generator)
        discrepancy = mean_discrepancy(
            evidence.codes, draws, kernel=self.kernel, bandwidth=self.bandwidth
        )
        alpha = self._at("alpha", step)
        weight = alpha + self._at("lambda_prior", step) - 1.0
        return Loss(
            self.weighed(
                model, reconstruction, (1.0 - alpha) * kl + weight * discrepancy
            ),
            {"reconstruction": reconstruction, "kl": kl, "discrepancy": discrepancy},
            evidence.kl_per_latent,
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
