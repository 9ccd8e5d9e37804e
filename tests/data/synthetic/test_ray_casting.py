import numpy as np
import pytest

from unbraid.data.synthetic._ray_casting import Box, Capsule, Cylinder, Ground, Sphere
from unbraid.foundation import numpy_generator

BOX = Box(low=(-1.0, -2.0, 0.0), high=(1.0, 2.0, 3.0))
SPHERE = Sphere(center=(1.0, 0.0, 2.0), radius=2.0)
CYLINDER = Cylinder(radius=1.0, low=0.0, high=2.0)
CAPSULE = Capsule(radius=1.0, low=1.0, high=3.0)
SOLIDS = pytest.mark.parametrize(
    "solid", [BOX, SPHERE, CYLINDER, CAPSULE], ids=lambda solid: type(solid).__name__
)
X, Y, Z = np.eye(3)
SLOPE = np.array([0.6, 0.0, -0.8])


@pytest.mark.parametrize(
    ("solid", "origin", "direction", "distance", "normal"),
    [
        (Ground(), (0, 0, 2), -Z, 2, Z),
        (Ground(height=1.0), (0, 0, 5), SLOPE, 5, Z),
        (Ground(), (0, 0, -2), Z, 2, Z),
        (BOX, (-4, 0, 1), X, 3, -X),
        (BOX, (4, 1, 1), -X, 3, X),
        (BOX, (0, 9, 1), -Y, 7, Y),
        (BOX, (0.5, 0, 7), -Z, 4, Z),
        (BOX, (-3.5, 0, 5.5), SLOPE, 25 / 6, -X),
        (BOX, (0, 0, 1), X, 1, X),
        (SPHERE, (-4, 0, 2), X, 3, -X),
        (SPHERE, (1, 0, 9), -Z, 5, Z),
        (SPHERE, (1, 0, 2), Y, 2, Y),
        (SPHERE, (-5, 0, 10), SLOPE, 8, -SLOPE),
        (CYLINDER, (-4, 0, 1), X, 3, -X),
        (CYLINDER, (0.5, 0, 6), -Z, 4, Z),
        (CYLINDER, (0, 0.5, -3), Z, 3, -Z),
        (CYLINDER, (0, 0, 1), Y, 1, Y),
        (CYLINDER, (-3, 0, 5), SLOPE, 3.75, Z),
        (CAPSULE, (-4, 0, 2), X, 3, -X),
        (CAPSULE, (0, 0, 9), -Z, 5, Z),
        (CAPSULE, (0, 0, -1), Z, 1, -Z),
        (CAPSULE, (0, 0, 2), -Y, 1, -Y),
        (CAPSULE, (-3, 0, 7), SLOPE, 4, -SLOPE),
    ],
)
def test_known_rays_hit_where_geometry_says(solid, origin, direction, distance, normal):
    origin = np.array(origin, dtype=float)
    distances = solid.distances(origin, direction[None])
    np.testing.assert_allclose(distances, [distance], rtol=1e-12)
    point = origin + distances[:, None] * direction
    np.testing.assert_allclose(solid.normals(point), [normal], atol=1e-12)


@pytest.mark.parametrize(
    ("solid", "origin", "direction"),
    [
        (Ground(), (0, 0, 2), Z),
        (Ground(), (0, 0, 2), X),
        (BOX, (-4, 0, 1), -X),
        (BOX, (-4, 0, 3.5), X),
        (BOX, (1.5, 0, 9), -Z),
        (SPHERE, (-4, 0, 2), -X),
        (SPHERE, (-4, 2.1, 2), X),
        (CYLINDER, (-4, 0, 2.1), X),
        (CYLINDER, (1.1, 0, 5), -Z),
        (CAPSULE, (0.9, 0.9, 8), -Z),
        (CAPSULE, (-4, 0, 4.1), X),
    ],
)
def test_rays_that_pass_by_or_look_away_miss(solid, origin, direction):
    distances = solid.distances(np.array(origin, dtype=float), direction[None])
    assert distances.tolist() == [np.inf]


@SOLIDS
def test_longer_directions_give_smaller_multiples(solid):
    origins, directions = random_rays()
    expected = solid.distances(origins, directions)
    np.testing.assert_allclose(4 * solid.distances(origins, 4 * directions), expected)


@SOLIDS
def test_one_origin_for_all_rays_equals_the_same_origin_for_each(solid):
    origin, (_, directions) = np.array([-5.0, 1.0, 4.0]), random_rays()
    repeated = np.repeat(origin[None], len(directions), axis=0)
    np.testing.assert_array_equal(
        solid.distances(origin, directions), solid.distances(repeated, directions)
    )


@SOLIDS
def test_distances_agree_with_walking_along_the_ray(solid):
    origins, directions = random_rays()
    walked, clearance = walk(solid, origins, directions)
    cast = solid.distances(origins, directions)
    hits = clearance < 1e-9
    passes = clearance > 1e-3
    assert hits.sum() > 300
    assert passes.sum() > 300
    np.testing.assert_allclose(cast[hits], walked[hits], atol=1e-6)
    assert np.isinf(cast[passes]).all()


@SOLIDS
def test_normals_are_the_slope_of_the_distance_to_the_surface(solid):
    origins, directions = random_rays()
    cast = solid.distances(origins, directions)
    hits = np.isfinite(cast)
    points = origins[hits] + cast[hits, None] * directions[hits]
    step = 1e-5
    slopes = [
        (outside(solid, points + step * axis) - outside(solid, points - step * axis))
        / (2 * step)
        for axis in np.eye(3)
    ]
    slopes = np.stack(slopes, axis=1)
    # Within a step of an edge the slope is that of both faces.
    smooth = np.abs(np.linalg.norm(slopes, axis=1) - 1) < 1e-6
    assert smooth.mean() > 0.99
    np.testing.assert_allclose(solid.normals(points)[smooth], slopes[smooth], atol=1e-4)


def random_rays(n=4000):
    generator = numpy_generator(0, "rays")
    origins = generator.normal(size=(n, 3))
    origins *= 8 / np.linalg.norm(origins, axis=1, keepdims=True)
    directions = generator.uniform(-3, 3, size=(n, 3)) + [0, 0, 1.5] - origins
    return origins, directions / np.linalg.norm(directions, axis=1, keepdims=True)


def walk(solid, origins, directions):
    """Steps as long as the distance to the solid never pass through its surface."""
    walked = np.zeros(len(origins))
    nearest = np.full(len(origins), np.inf)
    for _ in range(400):
        gap = outside(solid, origins + walked[:, None] * directions)
        nearest = np.minimum(nearest, gap)
        walked += np.minimum(gap, 1.0)
    return walked, nearest


def outside(solid, points):
    """Distance to the solid, negative inside."""
    if isinstance(solid, Sphere):
        return np.linalg.norm(points - solid.center, axis=1) - solid.radius
    if isinstance(solid, Capsule):
        axis = np.zeros_like(points)
        axis[:, 2] = np.clip(points[:, 2], solid.low, solid.high)
        return np.linalg.norm(points - axis, axis=1) - solid.radius
    if isinstance(solid, Cylinder):
        across = np.linalg.norm(points[:, :2], axis=1) - solid.radius
        middle, half = (solid.high + solid.low) / 2, (solid.high - solid.low) / 2
        excess = np.stack([across, np.abs(points[:, 2] - middle) - half], axis=1)
    else:
        low, high = np.array(solid.low), np.array(solid.high)
        excess = np.abs(points - (low + high) / 2) - (high - low) / 2
    beyond = np.linalg.norm(np.maximum(excess, 0), axis=1)
    return beyond + np.minimum(excess.max(axis=1), 0)
