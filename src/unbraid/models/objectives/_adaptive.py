"""Adaptive methods: infer the latents that two images share, and make them equal."""

import math
from typing import Literal

import torch

from unbraid.models._posterior import DiagonalGaussian

Divergence = Literal["symmetric", "one_sided"]
SharedBy = Literal["distance", "kl"]


def latent_divergence(
    first: DiagonalGaussian, second: DiagonalGaussian, kind: Divergence
) -> torch.Tensor:
    r"""Divergence of two posteriors in each latent.

    Args:
        first: Posteriors of the first images.
        second: Posteriors of the second images.
        kind: ``"symmetric"``, the mean of the divergences in both directions, or
            ``"one_sided"``, :math:`KL(q_1 \| q_2)`.

    Returns:
        Divergences of shape ``(batch, n_latents)``, at least 0.

    References:
        Michlo (2022), dissertation, Eq. A.2 (symmetric).
    """
    forwards = first.kl_to(second)
    return forwards if kind == "one_sided" else 0.5 * (forwards + second.kl_to(first))


def latent_differences(
    first: DiagonalGaussian,
    second: DiagonalGaussian,
    *,
    shared_by: SharedBy,
    divergence: Divergence = "symmetric",
) -> torch.Tensor:
    r"""Difference :math:`\delta` of two posteriors in each latent.

    Args:
        first: Posteriors of the first images.
        second: Posteriors of the second images.
        shared_by: Kind of difference: ``"distance"``, :math:`|\mu_1 - \mu_2|`, or
            ``"kl"``, the divergence of the posteriors.
        divergence: Kind of divergence, as in :func:`latent_divergence`; used if
            ``shared_by="kl"`` only.

    Returns:
        Differences of shape ``(batch, n_latents)``, at least 0.

    Example:
        >>> near = DiagonalGaussian(torch.zeros(1, 2), torch.zeros(1, 2))
        >>> far = DiagonalGaussian(torch.tensor([[2.0, -3.0]]), torch.zeros(1, 2))
        >>> latent_differences(near, far, shared_by="distance")
        tensor([[2., 3.]])

    References:
        Michlo (2022), dissertation, Table 5.1, first row.
    """
    if shared_by == "distance":
        return (first.mean - second.mean).abs()
    return latent_divergence(first, second, divergence)


def shared_latents(deltas: torch.Tensor, strength: float = 0.5) -> torch.Tensor:
    r"""Find latents that differ little, compared with the others of the same pair.

    .. math::
        \tau = (1 - \eta) \min_i \delta_i + \eta \max_i \delta_i, \qquad
        S = \{ i \mid \delta_i < \tau \}

    Args:
        deltas: Difference :math:`\delta` of each latent, ``(batch, n_latents)``.
        strength: Averaging strength :math:`\eta`, between 0 (nothing is shared) and 1
            (all but the latents that differ most are shared).

    Returns:
        Whether each latent is shared, of the same shape, without gradient.

    Example:
        >>> shared_latents(torch.tensor([[0.0, 1.0, 3.0, 4.0]]))
        tensor([[ True,  True, False, False]])

    References:
        Michlo (2022), dissertation, Eq. 5.16 and Table 5.1. One half is Eq. 2.13, the
        threshold of Locatello et al. (2020).
    """
    deltas = deltas.detach()
    least, most = deltas.amin(dim=1, keepdim=True), deltas.amax(dim=1, keepdim=True)
    # If delta is the same in all latents, a sum of two products may round to a larger
    # number.
    return deltas < least + strength * (most - least)


def mean_posterior(
    first: DiagonalGaussian, second: DiagonalGaussian
) -> DiagonalGaussian:
    r"""Mean of the means, and mean of the variances.

    References:
        Hosoya (2019), Group-based Learning of Disentangled Representations with
        Generalizability for Novel Contents. https://arxiv.org/abs/1809.02383
    """
    total = torch.logaddexp(first.log_variance, second.log_variance)
    return DiagonalGaussian(0.5 * (first.mean + second.mean), total - math.log(2.0))


def product_posterior(
    first: DiagonalGaussian, second: DiagonalGaussian
) -> DiagonalGaussian:
    r"""Product of two posteriors, with the harmonic mean of their variances.

    .. math::
        \sigma^2 = \frac{2 \sigma_1^2 \sigma_2^2}{\sigma_1^2 + \sigma_2^2}, \qquad
        \mu = \frac{\sigma^2}{2}
        \Bigl( \frac{\mu_1}{\sigma_1^2} + \frac{\mu_2}{\sigma_2^2} \Bigr)

    The variance is twice that of the normalized product, so that the product of equal
    posteriors is the same posterior again.

    References:
        Bouchacourt, Tomioka and Nowozin (2018), Multi-Level Variational Autoencoder.
        https://arxiv.org/abs/1705.08841. The factor of two is that of
        disentanglement_lib.
    """
    precision = torch.logaddexp(-first.log_variance, -second.log_variance)
    share = torch.sigmoid(second.log_variance - first.log_variance)
    mean = share * first.mean + (1.0 - share) * second.mean
    return DiagonalGaussian(mean, math.log(2.0) - precision)


def share_latents(
    first: DiagonalGaussian,
    second: DiagonalGaussian,
    is_shared: torch.Tensor,
    common: DiagonalGaussian,
) -> tuple[DiagonalGaussian, DiagonalGaussian]:
    """Replace both posteriors by a common one in shared latents.

    Args:
        first: Posteriors of the first images.
        second: Posteriors of the second images.
        is_shared: Whether each latent is shared, ``(batch, n_latents)``.
        common: Common posteriors, used in shared latents.

    References:
        Michlo (2022), dissertation, Eq. 2.10 and 2.11.
    """

    def with_common(own: DiagonalGaussian) -> DiagonalGaussian:
        return DiagonalGaussian(
            torch.where(is_shared, common.mean, own.mean),
            torch.where(is_shared, common.log_variance, own.log_variance),
        )

    return with_common(first), with_common(second)
