"""Adaptive triplet loss: distances to negatives count less in shared latents."""

from typing import Literal

import torch

from unbraid.foundation import check_option
from unbraid.models._schedules import Linear, Number

from ._adaptive import shared_latents

AdaptiveSchedule = Literal[
    "threshold", "weight_weak", "weight_strong", "both_weak", "both_strong"
]

_RISING = Linear(start=0.0, end=0.5)
_WEAK = Linear(start=1.0, end=0.5)
_STRONG = Linear(start=1.0, end=0.0)

_SCHEDULES: dict[AdaptiveSchedule, tuple[Number, Number]] = {
    "threshold": (0.5, _RISING),
    "weight_weak": (_WEAK, 0.5),
    "weight_strong": (_STRONG, 0.5),
    "both_weak": (_WEAK, _RISING),
    "both_strong": (_STRONG, _RISING),
}


def adaptive_schedule(name: AdaptiveSchedule) -> dict[str, Number]:
    """Return schedules of the shared weight and the averaging strength.

    Args:
        name: Name of the schedules: ``"threshold"``, ``"weight_weak"``,
            ``"weight_strong"``, ``"both_weak"`` or ``"both_strong"``.

    Returns:
        Values for the fields ``omega`` and ``eta``.

    Example:
        >>> adaptive_schedule("weight_weak")["eta"]
        0.5

    References:
        Michlo (2022), dissertation, Table 5.2. There the shared weight of
        ``"threshold"`` is 1, with which the loss would be the plain triplet loss at
        every threshold; the experiments in disent used 0.5.
    """
    check_option("name", name, AdaptiveSchedule)
    omega, eta = _SCHEDULES[name]
    return {"omega": omega, "eta": eta}


def adaptive_weights(deltas: torch.Tensor, *, eta: float, omega: float) -> torch.Tensor:
    r"""Return the weight of each latent: :math:`\omega` if shared, 1 otherwise.

    Args:
        deltas: Differences between anchors and negatives, ``(n, n_latents)``.
        eta: Averaging strength, between 0 and 1.
        omega: Shared weight, between 0 and 1.

    Returns:
        Weights of the same shape, without gradient.

    References:
        Michlo (2022), dissertation, Eq. 5.16 and 5.19.
    """
    is_shared = shared_latents(deltas, eta)
    return torch.ones_like(deltas).masked_fill(is_shared, omega).detach()
