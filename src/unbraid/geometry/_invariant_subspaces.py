"""Invariant subspaces of parallel fields: the factors of a product."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ._joint_diagonalization import joint_diagonalizers

_ALIKE = 0.5
"""Cosine above which two directions belong to one factor, as published."""

_COMMUTING = 0.02
"""Largest commutators, relative to their maximum, that are attributed to noise."""


@dataclass(frozen=True, eq=False)
class Subspaces:
    """A splitting of all tangent spaces into parts, in the same order at all points.

    Attributes:
        bases: Basis of each part in coordinates of the tangent space, ``(n_points, k,
            dimension of the part)``.
        is_flat: For each part, whether it has no holonomy: a line, or directions that
            parallel fields do not distinguish.
        coherence: Share of the squared norm of the fields that is explained by one
            number per part and field, the same at all points: 1 for parallel fields.
        agreement: Share of points whose tangent space, on its own, splits into parts of
            these dimensions.
        is_complete: Whether the parts imply the number of fields: one for each part,
            and ``f (f + 1) / 2`` for a flat part of ``f`` dimensions, minus one for the
            identity.
    """

    bases: list[NDArray[np.float64]]
    is_flat: tuple[bool, ...]
    coherence: float
    agreement: float
    is_complete: bool


def invariant_subspaces(fields: NDArray[np.float64]) -> Subspaces:
    """Split tangent spaces by fields of symmetric matrices that are nearly parallel.

    On a product, such a field is a multiple of the identity on each factor. Fields that
    do not commute come from a flat part of two or more dimensions, on which every
    matrix is parallel. This part, on which the commutators act, is separated first. The
    rest is diagonalized jointly, and directions with similar eigenvalues form a factor.

    Args:
        fields: Symmetric matrices with trace 0, ``(n_points, n_fields, k, k)``, at
            least one field.

    Example:
        >>> field = np.diag([1.0, 1.0, -2.0])
        >>> found = invariant_subspaces(np.tile(field, (5, 1, 1, 1)))
        >>> [basis.shape[2] for basis in found.bases], found.is_flat, found.coherence
        ([2, 1], (False, True), 1.0)

    References:
        Pfau et al. (2020), Algorithm 1, step 3. The treatment of flat parts and the
        common order of the parts at all points are our additions.
    """
    n_points, _, k, _ = fields.shape
    flat = _flat_part(fields)
    frame = np.tile(np.eye(k), (n_points, 1, 1)) if flat is None else flat[0]
    n_curved = k if flat is None else k - flat[1]
    curved = frame[:, :, :n_curved]
    parts, unexplained, agreement = [], 0.0, 1.0
    if n_curved:
        inside = np.swapaxes(curved, 1, 2)[:, None] @ fields @ curved[:, None]
        rows, labels, unexplained, agreement = _cluster(inside)
        for part in range(labels.max() + 1):
            members = np.nonzero(labels == part)[1].reshape(n_points, -1)
            chosen = np.take_along_axis(rows, members[:, :, None], axis=1)
            parts.append(curved @ np.swapaxes(chosen, 1, 2))
    if flat is not None:
        rest = frame[:, :, n_curved:]
        parts.append(rest)
        across = np.swapaxes(curved, 1, 2)[:, None] @ fields @ rest[:, None]
        unexplained += 2 * float(np.square(across).sum())
    is_flat = [part.shape[2] == 1 for part in parts]
    n_expected = len(parts) - 1
    if flat is not None:
        is_flat[-1] = True
        n_expected += flat[1] * (flat[1] + 1) // 2 - 1
    order = sorted(range(len(parts)), key=lambda i: (is_flat[i], parts[i].shape[2]))
    return Subspaces(
        bases=[parts[i] for i in order],
        is_flat=tuple(is_flat[i] for i in order),
        coherence=max(0.0, float(1 - unexplained / np.square(fields).sum())),
        agreement=agreement,
        is_complete=fields.shape[1] == n_expected,
    )


def _flat_part(
    fields: NDArray[np.float64],
) -> tuple[NDArray[np.float64], int] | None:
    """Return frames that end with the flat part, and its dimension, if there is one."""
    n_points, n_fields, k, _ = fields.shape
    # On a flat part of f dimensions there are f (f + 1) / 2 parallel fields.
    if n_fields < 2:
        return None
    sizes = np.sqrt(np.square(fields).sum(axis=(0, 2, 3)) / n_points)
    unit = fields / sizes[:, None, None]
    energy, most = np.zeros((n_points, k, k)), 0.0
    for first in range(n_fields):
        for second in range(first):
            product = unit[:, first] @ unit[:, second]
            commutator = product - np.swapaxes(product, 1, 2)
            energy += commutator @ np.swapaxes(commutator, 1, 2)
            most += 2.0
    share = np.trace(energy, axis1=1, axis2=2).mean() / most
    if share < _COMMUTING:
        return None
    values, frame = np.linalg.eigh(energy)
    typical = np.median(values, axis=0)
    return frame, max(2, int((typical > 0.3 * typical[-1]).sum()))


def _cluster(
    fields: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64], float, float]:
    """Return joint eigenvectors as rows, their parts, squared residual, agreement."""
    rotations = joint_diagonalizers(fields)
    turned = rotations[:, None] @ fields @ np.swapaxes(rotations, 1, 2)[:, None]
    numbers = np.swapaxes(np.diagonal(turned, axis1=2, axis2=3), 1, 2)
    alone = _label_each_point(numbers)
    n_points, k = alone.shape
    sizes = np.stack([(alone == part).sum(axis=1) for part in range(k)], axis=1)
    patterns, which = np.unique(-np.sort(-sizes, axis=1), axis=0, return_inverse=True)
    counts = np.bincount(which.ravel())
    usual = patterns[counts.argmax()]
    usual = usual[usual > 0]
    agrees = which.ravel() == counts.argmax()
    labels, centers = _label_all_points(numbers, alone, agrees, usual)
    spread = np.square(numbers - centers[labels]).sum()
    off = np.square(turned).sum() - np.square(numbers).sum()
    return rotations, labels, float(spread + off), float(agrees.mean())


def _label_each_point(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Group similar directions at each point, independently of the others."""
    n_points, k, _ = numbers.shape
    lengths = np.linalg.norm(numbers, axis=2, keepdims=True)
    unit = numbers / np.where(lengths > 0, lengths, 1.0)
    alike = unit @ np.swapaxes(unit, 1, 2) > _ALIKE
    point, first, second = np.nonzero(alike)
    ends = (point * k + first, point * k + second)
    graph = sparse.coo_array((np.ones(len(point)), ends), shape=(n_points * k,) * 2)
    _, group = sparse.csgraph.connected_components(graph, directed=False)
    group = group.reshape(n_points, k)
    # Components are numbered across all points; restart with 0 at each point.
    order = np.argsort(group, axis=1, kind="stable")
    ascending = np.take_along_axis(group, order, axis=1)
    is_new = np.diff(ascending, axis=1, prepend=ascending[:, :1]) > 0
    labels = np.empty_like(group)
    np.put_along_axis(labels, order, np.cumsum(is_new, axis=1), axis=1)
    return labels.astype(np.int64)


def _label_all_points(
    numbers: NDArray[np.float64],
    alone: NDArray[np.int64],
    agrees: NDArray[np.bool_],
    sizes: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Label directions with parts of the same sizes and order at all points."""
    first = int(np.flatnonzero(agrees)[0])
    groups = [numbers[first, alone[first] == part] for part in range(len(sizes))]
    groups.sort(key=len, reverse=True)
    centers = np.stack([group.mean(axis=0) for group in groups])
    for _ in range(5):
        distances = np.square(numbers[:, :, None] - centers).sum(axis=3)
        labels = distances.argmin(axis=2)
        members = [numbers[labels == part] for part in range(len(sizes))]
        centers = np.stack(
            [
                group.mean(axis=0) if len(group) else center
                for group, center in zip(members, centers, strict=True)
            ]
        )
    distances = np.square(numbers[:, :, None] - centers).sum(axis=3)
    labels = distances.argmin(axis=2)
    found = np.stack([(labels == part).sum(axis=1) for part in range(len(sizes))], 1)
    slots = np.repeat(np.arange(len(sizes)), sizes)
    for point in np.flatnonzero((found != sizes).any(axis=1)):
        _, assigned = linear_sum_assignment(distances[point][:, slots])
        labels[point] = slots[assigned]
    return labels, centers
