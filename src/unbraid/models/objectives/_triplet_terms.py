"""Triplet loss: an anchor should be closer to the positive than to the negative."""

from typing import Literal

import torch
from torch.nn import functional

MarginKind = Literal["hard", "soft"]


def latent_distance(
    first: torch.Tensor, second: torch.Tensor, degree: int
) -> torch.Tensor:
    """Distance between codes, ``(n,)``.

    Args:
        first: Codes ``(n, n_latents)``.
        second: Codes of the same shape.
        degree: Order of the norm: 1 for the sum of absolute differences, 2 for the
            Euclidean distance.
    """
    return torch.linalg.vector_norm(first - second, ord=degree, dim=1)


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
