"""Differentiable ranks, and the rank correlation based on them."""

from typing import Any

import numpy as np
import torch
from scipy.optimize import isotonic_regression

from unbraid.foundation import check_positive

_LEAST = 1e-30
"""Smallest product of sums of squares of ranks that are not all equal."""


def soft_rank(values: torch.Tensor, *, regularization: float = 1.0) -> torch.Tensor:
    r"""Return ranks from 1 (lowest) to n (highest) that are smooth in the values.

    Ranks are the corner of the permutahedron (the convex hull of all permutations of 1
    to n) with the largest scalar product with the values. Regularization uses the
    nearest point of the permutahedron instead, which has a gradient.

    .. math:: \operatorname*{argmin}_{y \in \mathcal{P}(1, \ldots, n)}
        \tfrac{1}{2} \| y - x / \varepsilon \|^2

    Solved exactly by sorting and isotonic regression in O(n log n); its gradient takes
    O(n).

    Args:
        values: Values :math:`x` of any shape; the last axis is ranked.
        regularization: Strength :math:`\varepsilon`, positive, in the unit of the
            values. Values farther apart than this are ranked as usual; much closer ones
            share ranks.

    Returns:
        Soft ranks, same shape; along the last axis they sum to n (n + 1) / 2.

    Example:
        >>> values = torch.tensor([0.3, 2.0, -1.0])
        >>> soft_rank(values, regularization=0.1)
        tensor([2., 3., 1.])
        >>> soft_rank(values, regularization=10.0)
        tensor([1.9867, 2.1567, 1.8567])

    References:
        Blondel, Teboul, Berthet and Djolonga (2020), Fast Differentiable Sorting and
        Ranking, Eq. 4 to 6 and Propositions 3 and 4 with the quadratic regularizer.
        https://arxiv.org/abs/2002.08871. There the highest value has rank 1.
    """
    check_positive("regularization", regularization)
    scaled = values / regularization
    if values.shape[-1] == 0:
        return scaled
    rows = scaled.reshape(-1, values.shape[-1])
    return torch.stack([_project(row) for row in rows]).reshape(values.shape)


def soft_rank_correlation(
    values: torch.Tensor, others: torch.Tensor, *, regularization: float = 0.1
) -> torch.Tensor:
    """Return Spearman's correlation, differentiable in the first argument.

    Args:
        values: Values that get soft ranks, ``(n,)``, n at least 2.
        others: Values that get ordinary ranks, ``(n,)``; ties share their mean rank.
        regularization: Strength of the regularization relative to the spread of the
            values, positive. Near 0 the result is Spearman's correlation, whose
            gradient is 0 everywhere; for large values it is Pearson's correlation of
            the values with the ranks.

    Returns:
        Correlation from -1 to 1, a scalar tensor.

    Example:
        >>> values = torch.tensor([0.0, 1.0, 8.0, 27.0])
        >>> soft_rank_correlation(values, torch.arange(4.0), regularization=1e-3)
        tensor(1.)
    """
    n = len(values)
    # Ranks of n values have this standard deviation, or less with ties.
    spread = n / np.sqrt(12.0)
    centered = values - values.mean()
    # Never 0, where the root has no gradient.
    deviation = (centered.square().mean() + torch.finfo(values.dtype).tiny).sqrt()
    ranks = soft_rank(centered / deviation * spread, regularization=regularization)
    return _correlation(ranks, rank(others).to(ranks))


def rank(values: torch.Tensor) -> torch.Tensor:
    """Return ranks from 1, ``(n,)``; ties share their mean rank."""
    _, which, counts = torch.unique(values, return_inverse=True, return_counts=True)
    last = counts.cumsum(dim=0).double()
    return (last - (counts - 1) / 2)[which]


def _correlation(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    first, second = first - first.mean(), second - second.mean()
    squares = first.square().sum() * second.square().sum()
    return (first * second).sum() / squares.clamp_min(_LEAST).sqrt()


class _Projection(torch.autograd.Function):
    """Projection of one row onto the permutahedron of 1 to n."""

    @staticmethod
    def forward(ctx: Any, row: torch.Tensor) -> torch.Tensor:
        order = torch.argsort(row, descending=True, stable=True)
        ranks = torch.arange(len(row), 0, -1, dtype=row.dtype, device=row.device)
        solved = isotonic_regression((ranks - row[order]).double().cpu().numpy())
        # The gradient is averaged over values that were pooled.
        lengths = torch.from_numpy(np.diff(solved.blocks)).to(row.device)
        pools = torch.repeat_interleave(
            torch.arange(len(lengths), device=row.device), lengths
        )
        ctx.save_for_backward(order, pools, lengths)
        shift = torch.empty_like(row)
        shift[order] = torch.from_numpy(solved.x).to(row)
        return row + shift

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> torch.Tensor:
        (gradient,) = gradients
        order, pools, lengths = ctx.saved_tensors
        sums = torch.zeros(len(lengths), dtype=gradient.dtype, device=gradient.device)
        sums.index_add_(0, pools, gradient[order])
        means = torch.empty_like(gradient)
        means[order] = (sums / lengths)[pools]
        return gradient - means


def _project(row: torch.Tensor) -> torch.Tensor:
    projected: Any = _Projection.apply(row)
    return projected
