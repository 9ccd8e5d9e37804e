"""Random points on spheres, rotation groups, tori and their products."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import check_integer, numpy_generator

_NAMED = re.compile(r"(S|SO|T)\s*\^?\s*\(?\s*(\d+)\s*\)?")


@dataclass(frozen=True, eq=False)
class ManifoldSample:
    """Random points of a product of manifolds, with the tangent spaces of its factors.

    Attributes:
        points: Points of shape ``(n_points, n_ambient)``.
        tangents: Orthonormal basis of the tangent space of each factor at every point,
            ``(n_points, n_ambient, dimension of the factor)``.
        names: Names of the factors, such as ``("S2", "SO3")``.
    """

    points: NDArray[np.float64]
    tangents: list[NDArray[np.float64]]
    names: tuple[str, ...]

    @property
    def dimensions(self) -> tuple[int, ...]:
        """Dimension of each factor."""
        return tuple(tangent.shape[2] for tangent in self.tangents)

    @property
    def dimension(self) -> int:
        """Dimension of the product."""
        return sum(self.dimensions)


def sphere(n_points: int, dimension: int, *, seed: int = 0) -> ManifoldSample:
    """Draw uniform points on the unit sphere in ``dimension + 1`` coordinates.

    Example:
        >>> sample = sphere(100, 2)
        >>> sample.points.shape, sample.dimensions
        ((100, 3), (2,))
    """
    return product_manifold([f"S{dimension}"], n_points, seed=seed)


def rotation_group(n_points: int, n: int, *, seed: int = 0) -> ManifoldSample:
    """Draw uniform rotations of ``n`` dimensions, each a row of ``n * n`` coordinates.

    Example:
        >>> sample = rotation_group(100, 3)
        >>> sample.points.shape, sample.dimensions
        ((100, 9), (3,))
    """
    return product_manifold([f"SO{n}"], n_points, seed=seed)


def torus(n_points: int, dimension: int, *, seed: int = 0) -> ManifoldSample:
    """Draw uniform points on a flat torus: a circle in two coordinates per dimension.

    Example:
        >>> sample = torus(100, 2)
        >>> sample.points.shape, sample.dimensions
        ((100, 4), (2,))
    """
    return product_manifold([f"T{dimension}"], n_points, seed=seed)


def product_manifold(
    factors: Sequence[str] | str,
    n_points: int,
    *,
    rotated: bool = False,
    seed: int = 0,
) -> ManifoldSample:
    """Draw uniform points of a product of manifolds, each in its own coordinates.

    Args:
        factors: Names of the factors: ``"S2"`` is a sphere (``"S1"`` a circle),
            ``"SO3"`` the rotations of three dimensions, ``"T2"`` a flat torus. Either a
            list, or one string with ``x`` between the names, such as ``"S2 x SO3"``.
        n_points: Number of points, at least 1.
        rotated: Whether to apply a random rotation to all coordinates, so that the
            factors cannot be read from the coordinates.
        seed: Seed of the points and the rotation.

    Example:
        >>> sample = product_manifold("S2 x SO(3)", 50, rotated=True)
        >>> sample.points.shape, sample.names, sample.dimension
        ((50, 12), ('S2', 'SO3'), 5)
    """
    names = factors.split("x") if isinstance(factors, str) else list(factors)
    check_integer("n_points", n_points, least=1)
    kinds = [_parse_factor(name) for name in names or [""]]
    pieces = [
        _FACTORIES[kind](n_points, size, numpy_generator(seed, "manifold", index))
        for index, (kind, size) in enumerate(kinds)
    ]
    widths = [points.shape[1] for points, _ in pieces]
    starts = np.concatenate([[0], np.cumsum(widths)])
    points = np.concatenate([points for points, _ in pieces], axis=1)
    tangents = []
    for start, (_, basis) in zip(starts[:-1], pieces, strict=True):
        tangent = np.zeros((n_points, starts[-1], basis.shape[2]))
        tangent[:, start : start + basis.shape[1]] = basis
        tangents.append(tangent)
    if rotated:
        turn = _rotations(1, int(starts[-1]), numpy_generator(seed, "rotation"))[0]
        points = points @ turn.T
        tangents = [turn @ tangent for tangent in tangents]
    return ManifoldSample(
        points, tangents, tuple(f"{kind}{size}" for kind, size in kinds)
    )


def _parse_factor(name: str) -> tuple[str, int]:
    match = _NAMED.fullmatch(name.strip())
    least = {"S": 1, "T": 1, "SO": 2}
    if match is None or int(match[2]) < least[match[1]]:
        raise ValueError(
            "factors must be named like S2 (sphere), SO3 (rotations) or T2 (torus), "
            f"got {name.strip()!r}."
        )
    return match[1], int(match[2])


def _sphere(
    n_points: int, dimension: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = generator.standard_normal((n_points, dimension + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    # The reflection that takes the first axis to the point takes the other axes to an
    # orthonormal basis of its complement. The sign avoids cancellation near the axis.
    sign = np.where(points[:, 0] > 0, -1.0, 1.0)
    mirror = points.copy()
    mirror[:, 0] -= sign
    mirror /= np.linalg.norm(mirror, axis=1, keepdims=True)
    basis = np.eye(dimension + 1) - 2 * mirror[:, :, None] * mirror[:, None, :]
    return points, basis[:, :, 1:]


def _rotation_group(
    n_points: int, n: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    rotations = _rotations(n_points, n, generator)
    rows, columns = np.triu_indices(n, 1)
    skew = np.zeros((len(rows), n, n))
    skew[np.arange(len(rows)), rows, columns] = np.sqrt(0.5)
    skew -= skew.transpose(0, 2, 1)
    # The tangent space at a rotation R consists of R A for skew-symmetric A.
    moves = rotations[:, None] @ skew
    tangent = moves.reshape(n_points, len(rows), n * n).transpose(0, 2, 1)
    return rotations.reshape(n_points, n * n), np.ascontiguousarray(tangent)


def _torus(
    n_points: int, dimension: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    angles = generator.uniform(0, 2 * np.pi, (n_points, dimension))
    cosines, sines = np.cos(angles), np.sin(angles)
    points = np.stack([cosines, sines], axis=2).reshape(n_points, 2 * dimension)
    basis = np.zeros((n_points, 2 * dimension, dimension))
    circles = np.arange(dimension)
    basis[:, 2 * circles, circles] = -sines
    basis[:, 2 * circles + 1, circles] = cosines
    return points, basis


def _rotations(
    n_points: int, n: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Draw uniform rotations: orthogonalized Gaussian matrices with unique signs."""
    matrices, triangles = np.linalg.qr(generator.standard_normal((n_points, n, n)))
    matrices *= np.sign(np.diagonal(triangles, axis1=1, axis2=2))[:, None, :]
    matrices[np.linalg.det(matrices) < 0, :, 0] *= -1
    return matrices


_FACTORIES = {"S": _sphere, "SO": _rotation_group, "T": _torus}
