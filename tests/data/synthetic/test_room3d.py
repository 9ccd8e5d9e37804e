import colorsys
import tracemalloc

import numpy as np
import pytest

from unbraid.data import Room3D
from unbraid.foundation import numpy_generator
from unbraid.testing import check_dataset

# Michlo (2022), Table 3.1, 3D Shapes: mean squared difference of pixels from 0 to 1
# between two images that differ in one factor only.
IMPORTANCE = {
    "wall_hue": 0.1122,
    "floor_hue": 0.1086,
    "object_hue": 0.0416,
    "shape": 0.0207,
    "scale": 0.0182,
    "orientation": 0.0116,
}
CUBE, CYLINDER, SPHERE, CAPSULE = range(4)


@pytest.fixture(scope="module")
def room():
    return Room3D()


@pytest.fixture(scope="module")
def primary():
    """A room whose hues are red, green and blue only."""
    return Room3D(image_size=32, n_floor_hues=3, n_wall_hues=3, n_object_hues=3)


def picture(room, *factors):
    return room.images(room.factor_space.indices(np.array([factors])))[0].astype(int)


def object_mask(room, scale, shape, orientation):
    """Where the object shows, seen from outside: where its hue makes a difference."""
    red = picture(room, 0, 0, 0, scale, shape, orientation)
    green = picture(room, 0, 0, 1, scale, shape, orientation)
    return (red != green).any(axis=0)


@pytest.mark.parametrize(
    "options",
    [
        {"image_size": 16},
        {"image_size": 33, "n_scales": 2, "n_orientations": 2},
        {"image_size": 20, "shapes": ("sphere",), "n_wall_hues": 1},
        {"image_size": 64, "n_scales": 1, "n_orientations": 1},
    ],
)
def test_every_size_and_grid_keeps_the_contract(options):
    check_dataset(Room3D(**options))


@pytest.mark.parametrize("image_size", range(16, 65))
def test_any_size_shows_sky_above_walls_above_floor(image_size):
    room = Room3D(
        image_size=image_size,
        n_floor_hues=3,
        n_wall_hues=3,
        n_object_hues=3,
        n_scales=1,
        n_orientations=1,
        shapes=("sphere",),
    )
    image = picture(room, 0, 1, 2, 0, 0, 0)
    assert image.shape == (3, image_size, image_size)
    # Sky above green walls above a red floor at the left, a blue ball in the middle.
    column = image[:, :, 0].argmax(axis=0)
    assert column[0] == 2
    assert column[image_size // 3] == 1
    assert column[-1] == 0
    assert image[:, image_size * 6 // 10, image_size // 2].argmax() == 2


def test_factors_are_those_of_3d_shapes(room):
    space = room.factor_space
    assert space.names == (
        "floor_hue",
        "wall_hue",
        "object_hue",
        "scale",
        "shape",
        "orientation",
    )
    assert space.sizes == (10, 10, 10, 8, 4, 15)
    assert space.kinds == ("cyclic",) * 3 + ("ordinal", "categorical", "ordinal")
    assert len(room) == 480_000


def test_importance_has_the_order_of_3d_shapes(room):
    measured = {name: differences(room, name) for name in IMPORTANCE}
    means = np.array([values.mean() for values in measured.values()])
    errors = np.array(
        [values.std() / np.sqrt(len(values)) for values in measured.values()]
    )
    gaps = means[:-1] - means[1:]
    assert (gaps > 5 * np.hypot(errors[:-1], errors[1:])).all()
    # Near the published numbers as well, though not by any need.
    np.testing.assert_allclose(means, list(IMPORTANCE.values()), rtol=0.3)


def differences(room, name, n=2000):
    """Squared differences of ``n`` random pairs that differ in one factor, ``(n,)``."""
    space, generator = room.factor_space, numpy_generator(0, "pairs", name)
    column = space.position(name)
    first = space.sample(n, generator=generator)
    second = first.copy()
    steps = generator.integers(1, space.sizes[column], size=n)
    second[:, column] = (first[:, column] + steps) % space.sizes[column]
    values = []
    for a, b in zip(np.split(first, 20), np.split(second, 20), strict=True):
        images = room.images(space.indices(a)), room.images(space.indices(b))
        change = (images[0].astype(np.float32) - images[1]) / 255
        values.append((change**2).mean(axis=(1, 2, 3)))
    return np.concatenate(values)


@pytest.mark.parametrize("image_size", [16, 64])
def test_every_value_of_every_factor_gives_another_picture(image_size):
    room = Room3D(image_size=image_size)
    start = room.factor_space.indices(np.array([[1, 4, 8, 3, CUBE, 5]]))
    for name, size in zip(
        room.factor_space.names, room.factor_space.sizes, strict=True
    ):
        images = room.images(room.factor_space.traversals(name, start)[0])
        assert len(np.unique(images.reshape(size, -1), axis=0)) == size


def test_hue_of_a_surface_is_its_brightness_times_the_color(room):
    # Bottom left is floor and nothing else: its red under a red hue is its brightness.
    def floor(hue):
        return picture(room, hue, 5, 5, 0, SPHERE, 7)[:, -8:, :8]

    brightness = floor(0)[0]
    assert len(np.unique(brightness)) > 5
    for hue in range(10):
        color = np.rint(256 * np.array(colorsys.hsv_to_rgb(hue / 10, 1, 1))) / 256
        expected = np.rint(brightness * color[:, None, None])
        np.testing.assert_array_equal(floor(hue), expected)


def test_turning_all_hues_by_a_third_swaps_channels_outside_the_sky(primary):
    red = picture(primary, 0, 0, 0, 3, CAPSULE, 4)
    green = picture(primary, 1, 1, 1, 3, CAPSULE, 4)
    blue = picture(primary, 2, 2, 2, 3, CAPSULE, 4)
    # The sky reaches a pixel in every channel; without it one channel stays dark.
    without_sky = (red[1] == 0) & (red[2] == 0)
    assert without_sky.mean() > 0.7
    np.testing.assert_array_equal(red[0][without_sky], green[1][without_sky])
    np.testing.assert_array_equal(red[0][without_sky], blue[2][without_sky])
    sky = slice(None), 0, 0
    np.testing.assert_array_equal(red[sky], green[sky])
    np.testing.assert_array_equal(red[sky], blue[sky])


@pytest.mark.parametrize("shape", range(4))
def test_pixels_are_the_sum_of_what_each_surface_sends(primary, shape):
    scene = (7, shape, 14)
    sky = picture(primary, 1, 1, 1, *scene)[0]
    floor = picture(primary, 0, 1, 1, *scene)[0] - sky
    wall = picture(primary, 1, 0, 1, *scene)[0] - sky
    thing = picture(primary, 1, 1, 0, *scene)[0] - sky
    together = picture(primary, 0, 0, 0, *scene)[0]
    assert floor.max() > 200
    assert wall.max() > 200
    assert thing.max() > 150
    np.testing.assert_allclose(together, sky + floor + wall + thing, atol=2)


@pytest.mark.parametrize("shape", [CYLINDER, SPHERE, CAPSULE])
def test_walking_around_a_round_object_keeps_its_outline(room, shape):
    front = object_mask(room, 4, shape, 7)
    for orientation in (0, 3, 14):
        np.testing.assert_array_equal(object_mask(room, 4, shape, orientation), front)


def test_walking_around_a_cube_changes_its_outline(room):
    outlines = [object_mask(room, 4, CUBE, orientation) for orientation in range(15)]
    assert len(np.unique(np.reshape(outlines, (15, -1)), axis=0)) == 15


@pytest.mark.parametrize("shape", range(4))
def test_opposite_orientations_mirror_the_outline_of_object_and_walls(room, shape):
    for orientation in (0, 4, 7):
        mask = object_mask(room, 2, shape, orientation)
        mirrored = object_mask(room, 2, shape, 14 - orientation)[:, ::-1]
        np.testing.assert_array_equal(mask, mirrored)
    walls = [
        (
            picture(room, 0, 0, 0, 2, shape, o) != picture(room, 0, 5, 0, 2, shape, o)
        ).any(axis=0)
        for o in (3, 11)
    ]
    np.testing.assert_array_equal(walls[0], walls[1][:, ::-1])


@pytest.mark.parametrize("shape", range(4))
def test_objects_grow_with_scale_and_never_leave_the_picture(room, shape):
    masks = np.array([object_mask(room, scale, shape, 7) for scale in range(8)])
    assert (np.diff(masks.sum(axis=(1, 2))) > 0).all()
    # The size on the floor goes from 3/4 to 5/4, and more as the front comes nearer.
    widths = masks.any(axis=1).sum(axis=1)
    assert widths[-1] / widths[0] > 5 / 3 - 0.1
    assert not masks[:, [0, -1]].any()
    assert not masks[:, :, [0, -1]].any()


@pytest.mark.parametrize("orientation", [0, 7, 14])
def test_shadow_darkens_the_floor_beside_the_object_only(primary, orientation):
    def floor(shape, scale):
        return picture(primary, 0, 1, 1, scale, shape, orientation)[0]

    small, large = floor(SPHERE, 0), floor(SPHERE, 7)
    bare = ~object_mask(primary, 7, SPHERE, orientation)
    assert (large[bare] <= small[bare]).all()
    darkened = bare & (large < 0.7 * small)
    assert 20 < darkened.sum() < 250
    assert not darkened[: primary.image_size // 3].any()


def test_a_small_picture_is_the_large_one_seen_from_afar(room):
    small = Room3D(image_size=16)
    rows = numpy_generator(0, "rows").integers(0, len(room), size=50)
    large = room.images(rows).reshape(50, 3, 16, 4, 16, 4).mean(axis=(3, 5))
    difference = np.abs(large - small.images(rows))
    assert difference.mean() < 1
    assert difference.max() < 30


def test_smaller_grids_are_parts_of_the_full_one(room):
    part = Room3D(
        n_floor_hues=5,
        n_wall_hues=2,
        n_object_hues=1,
        n_scales=2,
        shapes=("capsule", "cube"),
        n_orientations=3,
    )
    chosen = part.factor_space.factors(np.arange(len(part)))
    values = ([0, 2, 4, 6, 8], [0, 5], [0], [0, 7], [CAPSULE, CUBE], [0, 7, 14])
    full = [np.array(v)[column] for v, column in zip(values, chosen.T, strict=True)]
    rows = room.factor_space.indices(np.stack(full, axis=1))
    np.testing.assert_array_equal(part.images(np.arange(len(part))), room.images(rows))


def test_single_values_are_the_middle_of_their_range(room):
    alone = Room3D(n_scales=1, n_orientations=1)
    three = Room3D(n_scales=3, n_orientations=3)
    np.testing.assert_array_equal(
        picture(alone, 1, 2, 3, 0, CUBE, 0), picture(three, 1, 2, 3, 1, CUBE, 1)
    )


def test_all_geometries_take_less_than_100_megabytes():
    tracemalloc.start()
    try:
        Room3D().images(np.arange(480))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 100e6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 15}, "image_size must be between 16 and 64, got 15"),
        ({"image_size": 65}, "image_size must be between 16 and 64, got 65"),
        ({"n_floor_hues": 0}, "n_floor_hues must be at least 1, got 0"),
        ({"n_orientations": -1}, "n_orientations must be at least 1, got -1"),
        ({"shapes": ()}, "shapes must not be empty"),
        ({"shapes": ("cube", "cone")}, r"shapes\[1\] must be .* got 'cone'"),
        ({"shapes": ("cube", "cube")}, "shapes must be unique"),
    ],
)
def test_impossible_rooms_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Room3D(**options)
