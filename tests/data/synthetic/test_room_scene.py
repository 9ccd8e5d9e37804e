import numpy as np
import pytest
from scipy.spatial import Delaunay

from unbraid.data.synthetic import _room_scene as scene
from unbraid.data.synthetic._room_scene import FLOOR, OBJECT, SKY, WALL
from unbraid.foundation import numpy_generator

SHAPES = pytest.mark.parametrize("shape", ["cube", "cylinder", "sphere", "capsule"])


def project(points, degrees, image_size):
    """Column and row at which a pinhole camera shows points: turn, tilt, divide."""
    turn = -np.radians(225 + degrees)
    x = points[:, 0] * np.cos(turn) - points[:, 1] * np.sin(turn)
    y = points[:, 0] * np.sin(turn) + points[:, 1] * np.cos(turn)
    depth, across = scene._EYE_DISTANCE - x, y
    height = points[:, 2] - scene._EYE_HEIGHT
    tilt = np.arctan2(scene._EYE_HEIGHT - scene._LOOK_HEIGHT, scene._EYE_DISTANCE)
    along = depth * np.cos(tilt) - height * np.sin(tilt)
    up = depth * np.sin(tilt) + height * np.cos(tilt)
    half = along * np.tan(scene._FIELD_OF_VIEW / 2)
    return np.stack([across / half + 1, 1 - up / half], axis=1) * image_size / 2


def pixel_middles(image_size):
    middles = np.arange(image_size) + 0.5
    return np.stack(np.meshgrid(middles, middles), axis=-1)


@pytest.mark.parametrize("degrees", [-30.0, 0.0, 17.0])
def test_cube_fills_the_hull_of_its_projected_corners(degrees):
    cube = scene.build_object("cube", 1.1)
    share = scene.render(scene.build_view(degrees, 64), cube)[OBJECT]
    corners = np.stack(
        np.meshgrid(*zip(cube.low, cube.high, strict=True)), axis=-1
    ).reshape(-1, 3)
    hull = Delaunay(project(corners, degrees, 64))
    shifts = np.array([[0, 0], [0.8, 0.8], [0.8, -0.8], [-0.8, 0.8], [-0.8, -0.8]])
    around = pixel_middles(64)[:, :, None, :] + shifts
    inside = hull.find_simplex(around) >= 0
    assert inside.all(axis=-1).sum() > 300
    assert (share[inside.all(axis=-1)] > 0.4).all()
    assert (share[~inside.any(axis=-1)] == 0).all()


@pytest.mark.parametrize("degrees", [-20.0, 0.0, 30.0])
def test_walls_stand_between_their_projected_edges(degrees):
    shares = scene.render(
        scene.build_view(degrees, 64), scene.build_object("capsule", 0.75)
    )
    side = scene._WALLS.high[0]
    along = np.linspace(-side, side, 4001)
    for wall in ([along, 0 * along + side], [0 * along + side, along]):
        for height, above, below in (
            (0.0, WALL, FLOOR),
            (scene._WALL_HEIGHT, SKY, WALL),
        ):
            edge = np.stack([*wall, 0 * along + height], axis=1)
            columns, rows = project(edge, degrees, 64).T
            seen = (columns > 0) & (columns < 64) & (np.abs(columns - 32) > 8)
            across, down = columns[seen].astype(int), rows[seen]
            assert seen.any()
            assert (shares[above, (down - 1.5).astype(int), across] > 0.3).all()
            assert (shares[below, (down + 1.5).astype(int), across] > 0.3).all()


@SHAPES
def test_shares_leave_room_for_rounding_in_16_bits(shape):
    shares = scene.render(scene.build_view(-12.0, 64), scene.build_object(shape, 1.25))
    assert shares.shape == (4, 64, 64)
    assert (shares >= 0).all()
    assert shares[[FLOOR, WALL, OBJECT]].max() <= 0.98
    assert shares[SKY].max() == 1.0
    # What is not sky is at most 0.98 bright, at whatever share of the pixel.
    assert (shares[[FLOOR, WALL, OBJECT]].sum(axis=0) <= 0.98 + 1e-12).all()
    assert (shares.sum(axis=0) <= 1 + 1e-12).all()


@SHAPES
def test_objects_stand_on_the_floor_within_reach_of_culling(shape):
    solid = scene.build_object(shape, 1.25)
    generator = numpy_generator(0, "reach")
    origins = generator.uniform(-5, 5, size=(20_000, 3))
    directions = generator.uniform(-1.5, 1.5, size=(20_000, 3)) + [0, 0, 1.5] - origins
    hits = np.isfinite(solid.distances(origins, directions))
    assert hits.sum() > 1000
    assert np.isfinite(scene._REACH.distances(origins, directions))[hits].all()
    lift, _ = solid.interval(np.array([0.0, 0.0, -1.0]), np.array([[0.0, 0.0, 1.0]]))
    np.testing.assert_allclose(lift, [1.0])


@SHAPES
def test_object_hides_the_lamp_from_some_of_the_room_and_brightens_none(shape):
    view = scene.build_view(0.0, 32)
    lit, dark = (
        scene.render(view, scene.build_object(shape, scale)) for scale in (0.01, 1.0)
    )
    assert lit[OBJECT].sum() < 0.1
    free = dark[OBJECT] == 0
    for surface in (FLOOR, WALL):
        assert (dark[surface][free] <= lit[surface][free] + 1e-12).all()
    assert (dark[FLOOR][free] < 0.7 * lit[FLOOR][free]).sum() > 5
