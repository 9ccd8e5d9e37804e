"""Matching the latents of two models."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment


@dataclass(frozen=True)
class Match:
    """A latent of one model and its counterpart in another.

    Attributes:
        latent: Index of the latent in the first model.
        other: Index of its counterpart in the second model.
        correlation: Correlation of their codes, from -1 to 1.
    """

    latent: int
    other: int
    correlation: float

    @property
    def sign(self) -> int:
        """Direction of the counterpart: 1, or -1 if it is reversed."""
        return -1 if self.correlation < 0 else 1


def match_latents(
    codes: NDArray[np.floating], others: NDArray[np.floating]
) -> tuple[Match, ...]:
    """Pair the latents of two models whose codes correlate most.

    Each latent is in at most one pair. The pairs maximize the sum of absolute
    correlations (Hungarian algorithm). If one model has more latents, some of them are
    in no pair.

    Args:
        codes: Codes of the first model, ``(n_images, n_latents)``.
        others: Codes of the second model for the same images, ``(n_images,
            n_other_latents)``.

    Returns:
        Pairs, in the order of the latents of the first model.

    Example:
        >>> codes = np.random.default_rng(0).normal(size=(50, 2))
        >>> others = np.stack([codes[:, 1], -codes[:, 0]], axis=1)
        >>> [(one.latent, one.other, one.sign) for one in match_latents(codes, others)]
        [(0, 1, -1), (1, 0, 1)]
    """
    if codes.ndim != 2 or others.ndim != 2 or len(codes) != len(others):
        raise ValueError(
            "codes and others must have shapes (n_images, n_latents) with the same "
            f"number of images, got {codes.shape} and {others.shape}."
        )
    correlations = _standardize(codes).T @ _standardize(others) / max(len(codes), 1)
    rows, columns = linear_sum_assignment(np.abs(correlations), maximize=True)
    return tuple(
        Match(int(row), int(column), float(correlations[row, column]))
        for row, column in zip(rows, columns, strict=True)
    )


def _standardize(codes: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale codes to mean 0 and variance 1; constant latents become 0."""
    centered = codes.astype(np.float64) - codes.mean(axis=0, dtype=np.float64)
    spread = centered.std(axis=0)
    return centered / np.where(spread > 0, spread, 1.0)
