"""Which latents of two models say the same."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class Match:
    """A latent of one model and its counterpart in another.

    Attributes:
        latent: Of the first model.
        other: Of the second.
        correlation: Of their codes, from -1 to 1.
    """

    latent: int
    other: int
    correlation: float

    @property
    def sign(self) -> int:
        """Direction of the counterpart: 1, or -1 if it runs the other way."""
        return -1 if self.correlation < 0 else 1


def match_latents(
    codes: NDArray[np.floating], others: NDArray[np.floating]
) -> tuple[Match, ...]:
    """Pairs of latents whose codes correlate most, each latent in one pair at most.

    The pairs are those whose absolute correlations have the largest sum (Hungarian
    assignment). If one model has more latents, some of them are in no pair.

    Args:
        codes: Of the first model, ``(n_images, n_latents)``.
        others: Of the second, for the same images, ``(n_images, n_other_latents)``.

    Returns:
        In the order of the first model's latents.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(50, 2))
        >>> others = np.stack([codes[:, 1], -codes[:, 0]], axis=1)
        >>> [(one.latent, one.other, one.sign) for one in match_latents(codes, others)]
        [(0, 1, -1), (1, 0, 1)]
    """
    if codes.ndim != 2 or others.ndim != 2 or len(codes) != len(others):
        raise ValueError(
            "match_latents: expected codes of the same images, (n_images, n_latents), "
            f"got shapes {codes.shape} and {others.shape}."
        )
    correlations = _standard(codes).T @ _standard(others) / max(len(codes), 1)
    rows, columns = linear_sum_assignment(np.abs(correlations), maximize=True)
    return tuple(
        Match(int(row), int(column), float(correlations[row, column]))
        for row, column in zip(rows, columns, strict=True)
    )


def _standard(codes: NDArray[np.floating]) -> NDArray[np.float64]:
    """Mean 0 and variance 1; latents that never vary are 0, and correlate with none."""
    centred = codes.astype(np.float64) - codes.mean(axis=0, dtype=np.float64)
    spread = centred.std(axis=0)
    return centred / np.where(spread > 0, spread, 1.0)
