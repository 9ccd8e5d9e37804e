"""Adaptive triplet loss: distances to negatives count less in shared latents."""

from typing import Literal

import torch

from unbraid.foundation import check_option
from unbraid.models._schedules import Linear, Number

from ._adaptive import shared_latents

SharedBy = Literal["distance", "kl"]

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
    """Shared weight and averaging strength that change over a run.

    Args:
        name: ``"threshold"``, ``"weight_weak"``, ``"weight_strong"``, ``"both_weak"``
            or ``"both_strong"``.

    Returns:
        Values for the fields ``omega`` and ``eta``.

    Example:
        >>> adaptive_schedule("weight_weak")["eta"]
        0.5

    References:
        Michlo (2022), dissertation, Table 5.2. There the shared weight of
        ``"threshold"`` is 1, with which the loss would be the plain triplet loss at
        every threshold; 0.5 is what its experiments ran with in disent.
    """
    check_option("name", name, AdaptiveSchedule)
    omega, eta = _SCHEDULES[name]
    return {"omega": omega, "eta": eta}


def adaptive_weights(deltas: torch.Tensor, *, eta: float, omega: float) -> torch.Tensor:
    r"""How much each latent counts: :math:`\omega` if shared, else 1.

    Args:
        deltas: How much anchors and negatives differ, ``(n, n_latents)``.
        eta: Averaging strength, from 0 to 1.
        omega: Shared weight, from 0 to 1.

    Returns:
        Same shape, without gradient.

    References:
        Michlo (2022), dissertation, Eq. 5.16 and 5.19.
    """
    is_shared = shared_latents(deltas, eta)
    return torch.ones_like(deltas).masked_fill(is_shared, omega).detach()
