"""Points on spheres, rotation groups, tori and their products, with tangents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.foundation import numpy_generator

from ._geomancer_inputs import is_integer

_NAMED = re.compile(r"(S|SO|T)\s*\^?\s*\(?\s*(\d+)\s*\)?")


@dataclass(frozen=True, eq=False)
class ManifoldSample:
    """Random points of a product of manifolds, and where each factor leads from them.

    Attributes:
        points: Shape ``(n_points, n_ambient)``.
        tangents: For each factor an orthonormal basis of its tangent space at every
            point, ``(n_points, n_ambient, dimension of the factor)``.
        names: Of the factors, such as ``("S2", "SO3")``.
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
    """Uniform points of the unit sphere in ``dimension + 1`` coordinates.

    Example:
        >>> sample = sphere(100, 2)
        >>> sample.points.shape, sample.dimensions
        ((100, 3), (2,))
    """
    return product_manifold([f"S{dimension}"], n_points, seed=seed)


def rotation_group(n_points: int, n: int, *, seed: int = 0) -> ManifoldSample:
    """Uniform rotation matrices of ``n`` dimensions, each written as ``n * n`` numbers.

    Example:
        >>> sample = rotation_group(100, 3)
        >>> sample.points.shape, sample.dimensions
        ((100, 9), (3,))
    """
    return product_manifold([f"SO{n}"], n_points, seed=seed)


def torus(n_points: int, dimension: int, *, seed: int = 0) -> ManifoldSample:
    """Uniform points of a flat torus: a circle in two coordinates per dimension.

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
    """Uniform points of a product of manifolds, each in coordinates of its own.

    Args:
        factors: Names: ``"S2"`` is a sphere (``"S1"`` a circle), ``"SO3"`` the
            rotations of three dimensions, ``"T2"`` a flat torus; a list, or one text
            with ``x`` between them, such as ``"S2 x SO3"``.
        n_points: From 1.
        rotated: Turn all coordinates by one random rotation, so that no factor can be
            read off the coordinates.
        seed: Of the points and the rotation.

    Example:
        >>> sample = product_manifold("S2 x SO(3)", 50, rotated=True)
        >>> sample.points.shape, sample.names, sample.dimension
        ((50, 12), ('S2', 'SO3'), 5)
    """
    names = factors.split("x") if isinstance(factors, str) else list(factors)
    if not names or not is_integer(n_points, 1):
        raise ValueError(
            "product_manifold: expected a factor or more and a point or more, got "
            f"{len(names)} and {n_points!r}."
        )
    kinds = [_read(name) for name in names]
    pieces = [
        _FACTORIES[kind](n_points, size, numpy_generator(seed, "manifold", place))
        for place, (kind, size) in enumerate(kinds)
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


def _read(name: str) -> tuple[str, int]:
    match = _NAMED.fullmatch(name.strip())
    least = {"S": 1, "T": 1, "SO": 2}
    if match is None or int(match[2]) < least[match[1]]:
        raise ValueError(
            "product_manifold: expected factors such as S2, SO3 or T2, got "
            f"{name.strip()!r}."
        )
    return match[1], int(match[2])


def _sphere(
    n_points: int, dimension: int, generator: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    points = generator.standard_normal((n_points, dimension + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    # The reflection that takes the first axis to the point takes the other axes to an
    # orthonormal basis of what is orthogonal to it; away from the axis, for rounding.
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
    # A rotation R moves along R A for the skew matrices A.
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
    places = np.arange(dimension)
    basis[:, 2 * places, places] = -sines
    basis[:, 2 * places + 1, places] = cosines
    return points, basis


def _rotations(
    n_points: int, n: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """Uniform rotations: Gaussian matrices made orthogonal, with signs made unique."""
    matrices, triangles = np.linalg.qr(generator.standard_normal((n_points, n, n)))
    matrices *= np.sign(np.diagonal(triangles, axis1=1, axis2=2))[:, None, :]
    matrices[np.linalg.det(matrices) < 0, :, 0] *= -1
    return matrices


_FACTORIES = {"S": _sphere, "SO": _rotation_group, "T": _torus}
