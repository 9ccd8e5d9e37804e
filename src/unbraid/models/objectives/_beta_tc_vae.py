"""beta-TCVAE: the divergence in three parts, each with its own weight."""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, Literal, Self

import torch

from unbraid.data import AbstractDataset, Batch
from unbraid.foundation import check_integer, check_option
from unbraid.models._autoencoder import Autoencoder
from unbraid.models._loss import Loss
from unbraid.models._posterior import DiagonalGaussian
from unbraid.models._schedules import Number

from ._aggregate_density import mean_log_densities
from ._base import AbstractObjective, LossContext
from ._elbo import measure_evidence

Estimator = Literal["weighted", "stratified"]


@dataclass(frozen=True, kw_only=True)
class BetaTCVAE(AbstractObjective):
    r"""Evidence lower bound with a weight on each part of the divergence.

    The divergence is the sum of the mutual information of image and code, the total
    correlation of the latents, and the divergence of each latent from its prior:

    .. math::
        \mathbb{E} \, KL(q(z \mid x) \| p(z)) = I(x; z)
        + KL \Bigl( q(z) \| \prod_j q(z_j) \Bigr) + \sum_j KL(q(z_j) \| p(z_j))

    The parts are estimated from a batch, but the divergence itself is known. Therefore
    the loss is the divergence plus each part times its weight minus one. It has the
    same mean as the published form, and is :class:`VAE` if all weights are 1.

    Args:
        alpha: Weight of the mutual information, at least 0.
        beta: Weight of the total correlation, at least 0.
        gamma: Weight of the divergence of single latents, at least 0.
        estimator: Estimator of the density of all codes from the posteriors of a batch:
            ``"weighted"`` or ``"stratified"``.
        n_data: Number of images that batches are drawn from. It is required for
            ``"stratified"``, and set from the dataset of a run. For ``"weighted"`` it
            changes the parts by constants but no gradient; without it the batch is
            treated as all the data, so that the mutual information is at most the
            logarithm of the batch size.
        scale: Whether the loss is a ``"sum"`` or ``"mean"`` over pixels and latents.

    References:
        Chen, Li, Grosse and Duvenaud (2018), Isolating Sources of Disentanglement in
        Variational Autoencoders, Eq. 2 and 4, appendices C.1 (weighted) and C.2
        (stratified). https://arxiv.org/abs/1802.04942
    """

    least_batch: ClassVar[int] = 2

    alpha: Number = 1.0
    beta: Number = 6.0
    gamma: Number = 1.0
    estimator: Estimator = "weighted"
    n_data: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.check_numbers("alpha", "beta", "gamma")
        check_option("estimator", self.estimator, Estimator)
        if self.n_data is not None:
            check_integer("n_data", self.n_data, least=2)

    def for_data(self, dataset: AbstractDataset) -> Self:
        """Return this objective with the number of images, if it needs it."""
        if self.n_data is not None or self.estimator == "weighted":
            return self
        return dataclasses.replace(self, n_data=len(dataset))

    def loss(self, model: Autoencoder, batch: Batch, context: LossContext) -> Loss:
        """Return reconstruction loss plus divergence with weighted parts."""
        evidence = measure_evidence(model, batch.images, context)
        parts = decompose_divergence(
            evidence.posterior,
            evidence.codes,
            estimator=self.estimator,
            n_data=self.n_data,
        )
        latent = evidence.mean_kl
        weights = (self.alpha, self.beta, self.gamma)
        for weight, part in zip(weights, parts.values(), strict=True):
            latent = latent + (context.value(weight) - 1.0) * part
        return evidence.loss(
            self.combine_terms(model, evidence.mean_reconstruction, latent), **parts
        )


def decompose_divergence(
    posterior: DiagonalGaussian,
    codes: torch.Tensor,
    *,
    estimator: Estimator = "weighted",
    n_data: int | None = None,
) -> dict[str, torch.Tensor]:
    r"""Estimate the three parts of the divergence from a batch.

    They add up to the mean of :math:`\log q(z \mid x) - \log p(z)` over the codes.

    Args:
        posterior: Posteriors of a batch.
        codes: Codes sampled from the posteriors, ``(batch, n_latents)``.
        estimator: Estimator of the density of all codes.
        n_data: Number of images that the batch was drawn from.

    Returns:
        Mutual information, total correlation and divergence of single latents, scalars.
    """
    weights = _log_weights(codes, estimator, n_data)
    own, joint, single = mean_log_densities(posterior, codes, weights)
    prior = -0.5 * (codes.square() + math.log(2 * math.pi)).sum(dim=1).mean()
    return {
        "mutual_information": own - joint,
        "total_correlation": joint - single,
        "dimension_wise_kl": single - prior,
    }


def _log_weights(
    codes: torch.Tensor, estimator: Estimator, n_data: int | None
) -> torch.Tensor:
    """Return the log-weight of each posterior (column) for each code (row)."""
    n = len(codes)
    if estimator == "weighted":
        # Appendix C.1: every posterior counts 1 / (batch size * number of images).
        return codes.new_tensor(-math.log(n * (n_data or 1)))
    if n_data is None or n_data < n:
        raise ValueError(
            f"n_data must be at least the batch size {n} for the stratified estimator, "
            f"got {n_data}."
        )
    # Appendix C.2: 1 / N for the code's own image, (N - M) / (N M) for one other, and
    # 1 / M for the rest, where M is the number of others; each row sums to 1.
    n_others = n - 1
    weights = codes.new_full((n, n), 1.0 / n_others).fill_diagonal_(1.0 / n_data)
    rows = torch.arange(n, device=codes.device)
    weights[rows, (rows + 1) % n] = (n_data - n_others) / (n_data * n_others)
    return weights.log()
