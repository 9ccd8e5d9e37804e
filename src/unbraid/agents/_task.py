"""The clustering task: how well sprites of the same kind are together."""

import numpy as np
from numpy.typing import NDArray

SUCCESS = 2.5
"""Quality at which the task is solved."""

_RANGE = 10.0


def clustering_quality(
    positions: NDArray[np.floating], kinds: NDArray[np.integer]
) -> float:
    r"""Measure how compact and how far apart clusters of sprites are.

    The inverse of the Davies-Bouldin index. :math:`s_i` is the mean distance of the
    sprites of kind :math:`i` from their center, and :math:`d_{ij}` the distance between
    two centers.

    .. math::
        \Bigl( \frac{1}{K} \sum_i \max_{j \neq i} \frac{s_i + s_j}{d_{ij}} \Bigr)^{-1}

    Args:
        positions: Centers of the sprites, ``(n_sprites, 2)``.
        kinds: Kind of each sprite, ``(n_sprites,)``; negative for a sprite that does
            not count. At least two kinds.

    Returns:
        From 0; infinite if all sprites of a kind are in the same position.

    Example:
        >>> positions = np.array([[0.0, 0.0], [0.0, 0.2], [1.0, 0.0], [1.0, 0.2]])
        >>> round(clustering_quality(positions, np.array([0, 0, 1, 1])), 6)
        5.0

    References:
        Davies and Bouldin (1979), A Cluster Separation Measure, definitions 1 to 5.
    """
    groups = [positions[kinds == kind] for kind in np.unique(kinds[kinds >= 0])]
    centers = np.array([group.mean(axis=0) for group in groups])
    spreads = np.array(
        [
            np.linalg.norm(group - center, axis=1).mean()
            for group, center in zip(groups, centers, strict=True)
        ]
    )
    distances = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(distances, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        # Two kinds in the same position are not separated at all, even if compact.
        ratios = np.where(
            distances > 0, (spreads[:, None] + spreads) / distances, np.inf
        )
        return float(1 / ratios.max(axis=1).mean())


def clustering_reward(quality: float) -> float:
    """Reward from -10, far from a solution, to 0, where the task is solved.

    Example:
        >>> clustering_reward(1.5), clustering_reward(0.0), clustering_reward(4.0)
        (-5.0, -10.0, 0.0)
    """
    return float(np.clip((quality - SUCCESS) * _RANGE / 2, -_RANGE, 0.0))
