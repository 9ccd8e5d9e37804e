"""Triplet loss: an anchor should be closer to the positive than to the negative."""

from typing import Literal

import torch
from torch.nn import functional

MarginKind = Literal["hard", "soft"]


def latent_distance(
    first: torch.Tensor, second: torch.Tensor, degree: float
) -> torch.Tensor:
    r"""Distance between codes, :math:`(\sum_i |a_i - b_i|^p)^{1/p}`, ``(n,)``.

    Args:
        first: Codes ``(n, n_latents)``.
        second: Codes of the same shape.
        degree: Order :math:`p` of the norm, at least 1: 1 for the sum of absolute
            differences, 2 for the Euclidean distance.

    Example:
        >>> latent_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]), 2)
        tensor([5.])

    References:
        Michlo (2022), dissertation, Eq. 5.21 with weights of 1.
    """
    apart = first - second
    if degree in (1, 2):
        return torch.linalg.vector_norm(apart, ord=degree, dim=1)
    # Divided by the largest difference, whose power may be too large for a float.
    largest = apart.detach().abs().amax(dim=1, keepdim=True)
    scale = torch.where(largest > 0, largest, 1.0)
    norm = torch.linalg.vector_norm(apart / scale, ord=degree, dim=1)
    return scale[:, 0] * norm


def triplet_loss(
    to_positive: torch.Tensor,
    to_negative: torch.Tensor,
    *,
    kind: MarginKind,
    margin: float,
) -> torch.Tensor:
    r"""Triplet loss with a hard or soft margin, ``(n,)``.

    .. math::
        \max(0, \psi + d^+ - d^-) \quad \text{or} \quad \ln(1 + \exp(d^+ - d^-))

    Args:
        to_positive: Distances :math:`d^+` from anchors to positives, ``(n,)``.
        to_negative: Distances :math:`d^-` from anchors to negatives, ``(n,)``.
        kind: ``"hard"`` margin, the first formula, or ``"soft"``, the second.
        margin: Margin :math:`\psi`; not used if soft.

    Example:
        >>> near, far = torch.tensor([1.0, 1.0]), torch.tensor([1.5, 9.0])
        >>> triplet_loss(near, far, kind="hard", margin=2.0)
        tensor([1.5000, 0.0000])

    References:
        Michlo (2022), dissertation, Eq. 5.1 (hard) and 5.2 (soft).
    """
    excess = to_positive - to_negative
    if kind == "soft":
        return functional.softplus(excess)
    return functional.relu(margin + excess)


def mean_of_kept(values: torch.Tensor, is_kept: torch.Tensor) -> torch.Tensor:
    """Mean of the values that are kept; 0 if none is."""
    n_kept = is_kept.sum().clamp(min=1)
    return torch.where(is_kept, values, 0.0).sum() / n_kept
