"""Tangent spaces of a cloud of points."""

import numpy as np
import torch
from numpy.typing import NDArray

_NUMBERS = 20_000_000
"""Numbers processed at a time: 160 MB."""

_ROUNDS = 3
"""Fits of the curved model."""

_RIDGE = 1e-4
"""Regularization of the fit, per neighbor."""


def tangent_spaces(
    points: NDArray[np.float64],
    neighbors: NDArray[np.integer],
    dimension: int,
    *,
    curved: bool = True,
) -> NDArray[np.float64]:
    """Orthonormal bases of the tangent spaces, estimated from neighbors.

    The first principal directions of the differences to the neighbors, as published,
    are biased by the curvature of the manifold. With ``curved``, the differences are
    therefore fitted by a polynomial of second degree in their coordinates along these
    directions, whose linear part gives the new directions. This is done three times.

    Args:
        points: Points of shape ``(n_points, n_ambient)``.
        neighbors: Row numbers of the neighbors of each point, shape ``(n_points,
            n_neighbors)``.
        dimension: Dimension of the manifold.
        curved: Whether to fit the curvature, which needs at least ``dimension *
            (dimension + 3) / 2`` neighbors; with fewer it is not fitted.

    Returns:
        Bases of shape ``(n_points, n_ambient, dimension)``.

    Example:
        >>> angles = np.linspace(0, 2 * np.pi, 40, endpoint=False)
        >>> circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        >>> beside = (np.arange(40)[:, None] + [1, 2, -1]) % 40
        >>> tangents = tangent_spaces(circle, beside, 1)
        >>> bool(np.abs(tangents[0, 0]) < 1e-3), bool(np.abs(tangents[0, 1]) > 0.999)
        (True, True)

    References:
        Pfau et al. (2020), Algorithm 1, step 1 (principal directions); Cazals and
        Pouget (2005), Estimating Differential Quantities Using Polynomial Fitting of
        Osculating Jets (the fit).
    """
    n_points, n_ambient = points.shape
    width = neighbors.shape[1]
    n_terms = dimension * (dimension + 3) // 2
    curved = curved and width >= n_terms
    tangents = np.empty((n_points, n_ambient, dimension))
    per_point = width * (2 * n_ambient + n_terms) + n_terms * (n_terms + n_ambient)
    chunk = max(1, _NUMBERS // per_point)
    for start in range(0, n_points, chunk):
        rows = slice(start, start + chunk)
        differences = points[neighbors[rows]] - points[rows, None]
        bases = _principal_directions(differences, dimension)
        for _ in range(_ROUNDS if curved else 0):
            bases = _linear_part(differences, bases)
        tangents[rows] = bases
    return tangents


def _principal_directions(
    differences: NDArray[np.float64], dimension: int
) -> NDArray[np.float64]:
    _, width, n_ambient = differences.shape
    if n_ambient <= width:
        _, vectors = np.linalg.eigh(np.swapaxes(differences, 1, 2) @ differences)
        return np.ascontiguousarray(vectors[:, :, : -dimension - 1 : -1])
    _, _, vectors = np.linalg.svd(differences, full_matrices=False)
    return np.swapaxes(vectors[:, :dimension], 1, 2)


def _linear_part(
    differences: NDArray[np.float64], bases: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return bases of the linear part of a local fit of second degree."""
    steps, dimension = torch.from_numpy(differences), bases.shape[2]
    coordinates = torch.bmm(steps, torch.from_numpy(bases))
    # In units of the neighborhood, so that the ridge is the same for both degrees.
    scale = coordinates.square().mean(dim=(1, 2), keepdim=True).sqrt()
    coordinates /= torch.where(scale > 0, scale, 1.0)
    rows, columns = torch.triu_indices(dimension, dimension)
    products = coordinates[:, :, rows] * coordinates[:, :, columns]
    terms = torch.cat([coordinates, products], dim=2)
    squares = steps.square().sum(dim=2, keepdim=True)
    weighted = terms * torch.exp(-squares / squares.amax(dim=1, keepdim=True))
    normal = torch.bmm(weighted.mT, terms)
    normal += _RIDGE * steps.shape[1] * torch.eye(terms.shape[2], dtype=terms.dtype)
    found = torch.linalg.solve(normal, torch.bmm(weighted.mT, steps))
    linear = found[:, :dimension].mT.numpy()
    # The nearest orthonormal matrix changes the bases as little as possible.
    left, _, right = np.linalg.svd(linear, full_matrices=False)
    return left @ right
