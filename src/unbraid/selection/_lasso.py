"""Lasso regression of many targets on the same few columns."""

import numpy as np
from numpy.typing import NDArray

_MAX_SWEEPS = 1000
_TIGHT = 1e-10
_RIDGE = 1e-12
_SWEEPS_TO_SOLVE = 30
_MAX_VALUES = 2**24  # in the systems of all targets: 128 MB


def lasso_coefficients(
    gram: NDArray[np.float64],
    targets: NDArray[np.float64],
    *,
    penalty: float,
    tolerance: float | None = None,
) -> NDArray[np.float64]:
    r"""Return the weights of a lasso for many targets, by cyclic coordinate descent.

    .. math:: \tfrac{1}{2n} \lVert y - X w \rVert^2 + \lambda \lVert w \rVert_1

    depends on the rows only through scalar products, and so do the steps: all targets
    update the same coordinate together, until they have converged. Started from 0,
    these are the steps of ``sklearn.linear_model.Lasso`` on centered columns.

    Args:
        gram: Scalar products :math:`X^\top X / n`, ``(n_latents, n_latents)``; a latent
            that is always 0 gets weight 0.
        targets: Scalar products :math:`X^\top Y / n`, ``(n_latents, n_targets)``.
        penalty: Penalty :math:`\lambda`, positive.
        tolerance: A target has converged if no weight changes by more than this share
            of its largest weight, or after 1,000 rounds. By default it must be optimal
            up to rounding; the optimum is computed directly if 30 rounds do not reach
            it, because steps are slow for latents that are almost equal.

    Returns:
        Weights, ``(n_latents, n_targets)``.

    Example:
        >>> lasso_coefficients(
        ...     np.eye(2), np.array([[1.0], [0.05]]), penalty=0.1
        ... )
        array([[0.9],
               [0. ]])

    References:
        Friedman, Hastie and Tibshirani (2010), Regularization Paths for Generalized
        Linear Models via Coordinate Descent, equation 5 and section 2.2.
    """
    weights = np.zeros_like(targets)
    moving, current = np.arange(targets.shape[1]), np.zeros_like(targets)
    coordinates = np.flatnonzero(np.diag(gram) > 0)
    for sweep in range(1, _MAX_SWEEPS + 1):
        furthest = np.zeros(len(moving))
        for k in coordinates:
            pull = targets[k] - gram[k] @ current + gram[k, k] * current[k]
            weight = (pull - np.clip(pull, -penalty, penalty)) / gram[k, k]
            np.maximum(furthest, np.abs(weight - current[k]), out=furthest)
            current[k] = weight
        fits = len(moving) * gram.size <= _MAX_VALUES
        if tolerance is None and fits and sweep % _SWEEPS_TO_SOLVE == 0:
            current, going = _solve(gram, targets, current, penalty)
        else:
            going = furthest > (tolerance or _TIGHT) * np.abs(current).max(axis=0)
        if not going.all():
            weights[:, moving] = current
            moving, current = moving[going], current[:, going]
            targets = targets[:, going]
        if not len(moving):
            break
    weights[:, moving] = current
    return weights


def _solve(
    gram: NDArray[np.float64],
    targets: NDArray[np.float64],
    current: NDArray[np.float64],
    penalty: float,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Go to the best weights with the current signs, or as far as signs allow.

    Returns:
        Weights, ``(n_latents, n_targets)``, and which targets are not at the optimum.
    """
    signs = np.sign(current).T
    inside = signs != 0
    both = inside[:, :, None] & inside[:, None, :]
    # The ridge is negligible, and allows equal latents.
    systems = (
        np.where(both, gram, 0.0) + np.eye(len(gram)) * (~inside + _RIDGE)[:, None]
    )
    sides = np.where(inside, targets.T - penalty * signs, 0.0)
    best = np.linalg.solve(systems, sides[:, :, None])[:, :, 0]
    crosses = best * signs < 0
    share = np.ones_like(best)
    np.divide(current.T, current.T - best, out=share, where=crosses)
    nearest = share.min(axis=1, keepdims=True)
    weights = current.T + nearest * (best - current.T)
    weights[crosses & (share == nearest)] = 0.0
    slopes = targets.T - weights @ gram
    wrong = np.where(
        weights != 0, np.abs(slopes - penalty * signs), np.abs(slopes) - penalty
    )
    return weights.T, np.max(wrong, axis=1) > _TIGHT
