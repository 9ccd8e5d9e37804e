"""DIP-VAE: the covariance of the codes should be that of the prior."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch

from unbraid.data import Batch
from unbraid.foundation import check_option
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number

from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence

Kind = Literal["i", "ii"]

_RATIOS = {"i": 10.0, "ii": 1.0}
"""Default weight of the diagonal, divided by the weight off the diagonal."""


@dataclass(frozen=True, kw_only=True)
class DIPVAE(AbstractObjective):
    r"""Evidence lower bound plus the distance of a covariance from the identity.

    .. math::
        \mathbb{E}_{q(z \mid x)} [-\log p(x \mid z)] + KL(q(z \mid x) \| p(z))
        + \lambda_{od} \sum_{i \neq j} \Sigma_{ij}^2
        + \lambda_d \sum_i (\Sigma_{ii} - 1)^2

    Args:
        kind: Covariance :math:`\Sigma`: ``"i"`` for that of the posterior means,
            ``"ii"`` for that of the codes, which has the mean posterior variances added
            to the diagonal.
        lambda_off_diagonal: Weight of covariances, at least 0. The large study uses 1,
            2, 5, 10, 20 and 50.
        lambda_diagonal: Weight of variances, at least 0. Default: that of the large
            study, ten times ``lambda_off_diagonal`` for kind i, and the same for kind
            ii.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Kumar, Sattigeri and Balakrishnan (2018), Variational Inference of Disentangled
        Latent Concepts from Unlabeled Observations, Eq. 6 and 7.
        https://arxiv.org/abs/1711.00848
        The covariance of a batch is divided by its size, as in disentanglement_lib.
    """

    least_batch: ClassVar[int] = 2

    kind: Kind = "ii"
    lambda_off_diagonal: Number = 10.0
    lambda_diagonal: Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("kind", self.kind, Kind)
        self.check_numbers("lambda_off_diagonal")
        if self.lambda_diagonal is not None:
            self.check_numbers("lambda_diagonal")

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss, divergence and weighted covariance penalty."""
        evidence = measure_evidence(model, batch.images, context)
        off_diagonal, diagonal = self._distances(evidence.posterior)
        off_weight = context.value(self.lambda_off_diagonal)
        if self.lambda_diagonal is None:
            weight = _RATIOS[self.kind] * off_weight
        else:
            weight = context.value(self.lambda_diagonal)
        penalty = off_weight * off_diagonal + weight * diagonal
        return evidence.loss(
            self.combine_terms(
                model, evidence.mean_reconstruction, evidence.mean_kl + penalty
            ),
            off_diagonal=off_diagonal,
            diagonal=diagonal,
        )

    def _distances(
        self, posterior: DiagonalGaussian
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return squared distances from the identity, off and on the diagonal."""
        centered = posterior.mean - posterior.mean.mean(dim=0)
        covariance = centered.T @ centered / len(centered)
        variances = covariance.diagonal()
        off_diagonal = (covariance - variances.diag()).square().sum()
        if self.kind == "ii":
            variances = variances + posterior.variance.mean(dim=0)
        return off_diagonal, (variances - 1.0).square().sum()
