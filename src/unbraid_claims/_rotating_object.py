"""An object seen from all sides in all lights, and how well its factors are split."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation
from sklearn.neighbors import NearestNeighbors

from unbraid.data import render_rotating_object
from unbraid.foundation import numpy_generator
from unbraid.geometry import (
    Geomancer,
    ManifoldSample,
    alignment_error,
    bottom_eigenpairs,
    connection_laplacian,
    product_manifold,
    traceless_basis,
)

DIMENSIONS = (3, 2)
"""Dimensions of the rotations and of the directions of the light."""

IMAGE_SIZE = 16

_STEP = 0.1  # in radians: pixels are rounded to 256 levels

Array = NDArray[np.float64]


def sample_poses(n_points: int) -> ManifoldSample:
    """Uniform orientations and lights: points ``(n_points, 12)`` and their tangents."""
    return product_manifold("SO3 x S2", n_points)


def render_poses(points: Array) -> NDArray[np.uint8]:
    """Images of poses, ``(n_points, 1, 16, 16)``."""
    return render_rotating_object(
        points[:, :9].reshape(-1, 3, 3), points[:, 9:], image_size=IMAGE_SIZE
    )


def pushed_tangents(
    sample: ManifoldSample, embed: Callable[[Array], Array]
) -> list[Array]:
    """Tangent spaces of the two factors in another space, by central differences.

    Args:
        sample: Poses of the object.
        embed: Map from poses ``(n, 12)`` to vectors ``(n, n_ambient)``.

    Returns:
        Derivatives ``(n_points, n_ambient, dimension)`` for rotations and for lights.
    """
    points = sample.points
    rotations = Rotation.from_matrix(points[:, :9].reshape(-1, 3, 3))

    def turn(step: Array) -> Array:
        turned = (rotations * Rotation.from_rotvec(step)).as_matrix()
        return embed(np.hstack([turned.reshape(-1, 9), points[:, 9:]]))

    def move_light(step: Array) -> Array:
        light = points[:, 9:] + step
        light /= np.linalg.norm(light, axis=1, keepdims=True)
        return embed(np.hstack([points[:, :9], light]))

    axes = _STEP * np.eye(3)
    steps = _STEP * np.moveaxis(sample.tangents[1][:, 9:], 2, 0)
    by_rotation = [turn(axis) - turn(-axis) for axis in axes]
    by_light = [move_light(step) - move_light(-step) for step in steps]
    return [
        np.stack(columns, axis=2) / (2 * _STEP) for columns in (by_rotation, by_light)
    ]


def splitting_angle(
    points: Array, fitted: Geomancer, true: Sequence[Array], *, seed: int = 0
) -> float:
    """Mean angle between the two factors that are split by force and the true ones.

    GeoManCEr refuses to split points without a gap in the spectrum. To compare its
    directions with chance all the same, the lowest field of the connection Laplacian is
    split at the larger of the two gaps between its eigenvalues that give the right
    dimensions, whatever the spectrum.

    Args:
        points: Points ``(n_points, n_ambient)``.
        fitted: GeoManCEr after ``fit(points)``.
        true: Vectors that span the factors' tangent spaces at every point,
            ``(n_points, n_ambient, dimension)`` each. They are projected onto the
            estimated tangent spaces, so that only the splitting counts.
        seed: Seed of the eigensolver.

    Returns:
        Radians from 0 to pi / 2; :func:`random_angle` is chance.
    """
    tangents = fitted.tangents_
    search = NearestNeighbors(n_neighbors=fitted.n_neighbors_).fit(points)
    near = search.kneighbors(return_distance=False)
    values, vectors = np.linalg.eigh(_lowest_field(tangents, near, seed))
    gaps = np.diff(values, axis=1).mean(axis=0)
    first = max((basis.shape[2] for basis in true), key=lambda size: gaps[size - 1])
    found = [vectors[:, :, :first], vectors[:, :, first:]]
    projected = [np.swapaxes(tangents, 1, 2) @ basis for basis in true]
    bases = [np.linalg.qr(vectors)[0] for vectors in projected]
    return float(alignment_error(found, bases).mean())


def random_angle(*, n_samples: int = 10_000, seed: int = 0) -> float:
    """Mean angle between two random splittings of five dimensions into three and two.

    Returns:
        Radians; about 1.26.
    """
    generator = numpy_generator(seed, "random subspaces")
    size = sum(DIMENSIONS)
    bases = np.linalg.qr(generator.normal(size=(2, n_samples, size, size)))[0]
    first, second = (
        [basis[..., : DIMENSIONS[0]], basis[..., DIMENSIONS[0] :]] for basis in bases
    )
    return float(alignment_error(first, second).mean())


def _lowest_field(tangents: Array, near: NDArray[np.int64], seed: int) -> Array:
    """Most parallel field of symmetric matrices, ``(n_points, k, k)``."""
    n_points, _, dimension = tangents.shape
    pairs = np.stack(
        [np.repeat(np.arange(n_points), near.shape[1]), near.ravel()], axis=1
    )
    edges = np.unique(np.sort(pairs, axis=1), axis=0)
    overlaps = np.swapaxes(tangents[edges[:, 1]], 1, 2) @ tangents[edges[:, 0]]
    left, _, right = np.linalg.svd(overlaps)
    laplacian = connection_laplacian(n_points, edges, left @ right)
    _, vectors = bottom_eigenpairs(laplacian, 2, seed=seed)
    basis = traceless_basis(dimension)
    return np.einsum("na,aij->nij", vectors[:, 0].reshape(n_points, -1), basis)
