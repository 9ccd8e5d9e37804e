import pickle
import tracemalloc

import numpy as np
import pytest

from unbraid.data import Sprites2D
from unbraid.foundation import numpy_generator
from unbraid.testing import check_dataset

# Michlo (2022), Table 3.1: mean squared difference of the pixels of two dSprites images
# that differ in this factor only, the most important first.
DSPRITES_DISTANCES = {
    "position_y": 0.0584,
    "position_x": 0.0559,
    "scale": 0.0250,
    "shape": 0.0214,
    "orientation": 0.0172,
}
DSPRITES_RANDOM_DISTANCE = 0.0754


def image_of(dataset, **values):
    """One picture; factors that are not given have their first value."""
    row = [values.get(name, 0) for name in dataset.factor_names]
    return dataset.images([dataset.factor_space.indices(np.array(row))])[0, 0]


def mean_distance(dataset, first, second):
    distances = []
    for a, b in zip(dataset.images(first), dataset.images(second), strict=True):
        difference = a.astype(np.float32) / 255 - b.astype(np.float32) / 255
        distances.append(np.mean(difference**2))
    return np.mean(distances)


def center_of_mass(image):
    """Column and row, in pixels."""
    weight = image / image.sum(dtype=np.float64)
    pixels = np.arange(len(image))
    return weight.sum(axis=0) @ pixels, weight.sum(axis=1) @ pixels


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"image_size": 16},
        {"image_size": 17, "n_positions": 31},
        {"image_size": 31, "n_orientations": 3},
        {"image_size": 33, "shapes": ("heart", "square")},
        {"image_size": 63, "n_scales": 2, "n_orientations": 5},
        {"shapes": ("ellipse",), "n_scales": 1, "n_orientations": 1, "n_positions": 1},
    ],
)
def test_keeps_the_contract_of_a_dataset(options):
    check_dataset(Sprites2D(**options))


def test_has_the_factors_of_dsprites_in_their_order():
    space = Sprites2D().factor_space
    assert space.names == (
        "shape",
        "scale",
        "orientation",
        "position_x",
        "position_y",
    )
    assert space.sizes == (3, 6, 40, 32, 32)
    assert space.kinds == ("categorical", "ordinal", "cyclic", "ordinal", "ordinal")
    assert Sprites2D().name == "sprites2d"


def test_pixel_statistics_are_those_of_dsprites():
    sprites = Sprites2D()
    rows = numpy_generator(0, "statistics").integers(0, len(sprites), size=8_000)
    pixels = sprites.images(rows).reshape(len(rows), -1) / np.float32(255)
    assert pixels.mean() == pytest.approx(0.0425, rel=0.02)
    # Within images (as dSprites' number was computed), over the mean variance of an
    # image, and over all pixels.
    within = pixels.std(axis=1)
    assert within.mean() == pytest.approx(0.195, rel=0.02)
    assert np.sqrt(np.mean(within**2)) == pytest.approx(0.195, rel=0.05)
    assert pixels.std(dtype=np.float64) == pytest.approx(0.195, rel=0.05)


def test_perceived_distances_are_those_of_dsprites_in_the_same_order():
    sprites, n_pairs = Sprites2D(), 20_000
    space = sprites.factor_space
    generator = numpy_generator(0, "distances")
    measured = {}
    for column, name in enumerate(space.names):
        first = space.sample(n_pairs, generator=generator)
        second = first.copy()
        second[:, column] += generator.integers(1, space.sizes[column], size=n_pairs)
        second[:, column] %= space.sizes[column]
        measured[name] = mean_distance(
            sprites, space.indices(first), space.indices(second)
        )
    assert measured == pytest.approx(DSPRITES_DISTANCES, rel=0.04)
    assert sorted(measured, key=measured.__getitem__, reverse=True) == list(
        DSPRITES_DISTANCES
    )


def test_random_pairs_are_as_far_apart_as_in_dsprites():
    sprites, n_pairs = Sprites2D(), 20_000
    generator = numpy_generator(0, "random pairs")
    first = generator.integers(0, len(sprites), size=n_pairs)
    second = first + generator.integers(1, len(sprites), size=n_pairs)
    measured = mean_distance(sprites, first, second % len(sprites))
    assert measured == pytest.approx(DSPRITES_RANDOM_DISTANCE, rel=0.04)


def test_images_are_binary_at_full_size_and_gray_below():
    rows = np.arange(0, 737_280, 997)
    assert set(np.unique(Sprites2D().images(rows))) == {0, 255}
    for size in (16, 40, 63):
        assert len(np.unique(Sprites2D(image_size=size).images(rows))) > 32


@pytest.mark.parametrize("image_size", [64, 16])
def test_no_two_images_are_the_same_but_for_the_full_turn(image_size):
    sprites = Sprites2D(image_size=image_size)
    seen = set()
    for rows in np.split(np.arange(len(sprites)), 720):
        seen.update(hash(image.tobytes()) for image in sprites.images(rows))
    assert len(seen) == len(sprites) * 39 // 40
    first, last = (sprites.factor_space.strides[2] * turn for turn in (0, 39))
    assert np.array_equal(sprites.images([first]), sprites.images([last]))


def test_positions_move_a_sprite_right_and_down_by_whole_pixels():
    sprites = Sprites2D()
    look = {"shape": 2, "scale": 5, "orientation": 7}
    start = image_of(sprites, **look)
    for x, y in ((1, 0), (0, 1), (13, 22), (31, 31)):
        moved = np.roll(start, (round(33 * y / 31), x), axis=(0, 1))
        there = image_of(sprites, **look, position_x=x, position_y=y)
        assert np.array_equal(there, moved)


@pytest.mark.parametrize("image_size", [16, 23, 32, 45, 63, 64])
def test_center_of_mass_moves_linearly_at_any_size(image_size):
    sprites = Sprites2D(image_size=image_size)
    step = 1 / -(-64 // image_size)
    for name, axis, travel in (("position_x", 0, 31), ("position_y", 1, 33)):
        places = [
            center_of_mass(image_of(sprites, scale=3, **{name: value}))[axis]
            for value in range(32)
        ]
        wanted = np.linspace(0, travel * image_size / 64, 32)
        # Off by half a step at both ends, and by the rounding of grays.
        assert np.subtract(places, places[0]) == pytest.approx(wanted, abs=1.1 * step)
        assert (np.diff(places) > 0.4 * step).all()


@pytest.mark.parametrize("image_size", [16, 19, 31, 33, 63, 64])
def test_every_sprite_stays_whole_and_inside_the_image(image_size):
    sprites = Sprites2D(image_size=image_size, n_orientations=13)
    space = sprites.factor_space
    values = space.factors(np.arange(0, space.size, space.strides[2]))
    values[:, 3:] = 16
    middle = sprites.images(space.indices(values))[:, 0]
    for x, y in ((0, 0), (0, 31), (31, 0), (31, 31)):
        values[:, 3:] = x, y
        corner = sprites.images(space.indices(values))[:, 0]
        # Nothing is cut off; grays are rounded to 1/255 in each of the edge pixels.
        lost = corner.sum(axis=(1, 2), dtype=float) - middle.sum(
            axis=(1, 2), dtype=float
        )
        assert np.abs(lost).max() <= (0 if image_size == 64 else image_size)
        # Nothing comes in at the opposite side.
        for axis in (1, 2):
            lit = corner.any(axis=axis)
            extent = image_size - lit[:, ::-1].argmax(1) - lit.argmax(1)
            assert extent.max() <= np.ceil(29 * image_size / 64) + 1


@pytest.mark.parametrize("block", [2, 4])
def test_small_images_are_shrunken_large_ones(block):
    size = 64 // block
    generator = numpy_generator(0, "shrunken")
    rows = generator.integers(0, 737_280, size=500)
    large = Sprites2D().images(rows).reshape(-1, size, block, size, block)
    small = Sprites2D(image_size=size).images(rows)[:, 0]
    difference = small - large.mean(axis=(2, 4))
    # They differ in the anti-aliasing only: at the edges, and not on average.
    assert np.abs(difference).max() < 128
    assert np.abs(difference).mean() < 0.05 * small.mean()
    assert abs(difference.mean()) < 0.01 * small.mean()


def test_shapes_have_their_areas_at_every_scale():
    sprites = Sprites2D(n_positions=1)
    areas = (sprites.images(range(len(sprites))) > 0).sum(axis=(1, 2, 3))
    areas = areas.reshape(3, 6, 40).mean(axis=2)
    scales = np.linspace(0.5, 1, 6)
    assert areas[0] == pytest.approx(19**2 * scales**2, rel=0.02)
    assert areas[1] == pytest.approx(np.pi * 13 * 6.5 * scales**2, rel=0.02)
    # The shear keeps the area of the circle, and the factor 5/4 shrinks it.
    assert areas[2] == pytest.approx(np.pi * 10**2 / 1.25 * scales**2, rel=0.02)


def test_upright_shapes_look_like_what_they_are():
    lit = {
        shape: image_of(Sprites2D(shapes=(shape,)), scale=5) > 0
        for shape in ("square", "ellipse", "heart")
    }
    rows, columns = np.nonzero(lit["square"])
    assert np.ptp(rows) == np.ptp(columns) == 18
    assert len(rows) == 19**2
    rows, columns = np.nonzero(lit["ellipse"])
    assert np.ptp(columns) + 1 == 26
    assert np.ptp(rows) + 1 == 13
    rows, columns = np.nonzero(lit["heart"])
    top, bottom, left = rows.min(), rows.max(), columns.min()
    heart = lit["heart"][top : bottom + 1, left : columns.max() + 1]
    assert np.mean(heart == heart[:, ::-1]) > 0.9
    middle = heart.shape[1] // 2
    assert heart[0, :middle].any()
    assert heart[0, middle + 1 :].any()
    notch = heart[:, middle - 1 : middle + 1].argmax(axis=0)
    assert notch.max() >= 3
    widths = heart.sum(axis=1)
    assert widths.argmax() < len(widths) / 2
    assert widths[-1] <= 2


def test_orientation_turns_clockwise():
    hearts = Sprites2D(shapes=("heart",), n_scales=1, n_positions=1)
    # The tip is the lit point farthest from the middle of the lit pixels.
    tips = []
    for image in hearts.images([0, 10, 20, 30])[:, 0]:
        rows, columns = np.nonzero(image)
        x, y = columns - columns.mean(), rows - rows.mean()
        farthest = np.argmax(x**2 + y**2)
        tips.append((x[farthest], y[farthest]))
    below, left, above, right = tips
    assert below[1] > 5 * abs(below[0])
    assert left[0] < -5 * abs(left[1])
    assert above[1] < -5 * abs(above[0])
    assert right[0] > 5 * abs(right[1])


def test_sub_grid_of_orientations_holds_every_so_many_angles():
    whole, part = Sprites2D(n_positions=2), Sprites2D(n_positions=2, n_orientations=10)
    values = part.factor_space.factors(np.arange(len(part)))
    images = part.images(np.arange(len(part)))
    values[:, 2] *= 4
    assert np.array_equal(images, whole.images(whole.factor_space.indices(values)))


@pytest.mark.parametrize("n_orientations", [2, 4, 7, 39])
def test_sub_grid_has_no_orientation_twice(n_orientations):
    sprites = Sprites2D(n_orientations=n_orientations, n_positions=1)
    images = sprites.images(range(len(sprites)))
    assert len(np.unique(images, axis=0)) == len(sprites)


def test_sub_grid_has_the_chosen_shapes_in_the_chosen_order():
    whole, part = Sprites2D(), Sprites2D(shapes=("heart", "square"))
    for chosen, shape in ((0, 2), (1, 0)):
        look = {"scale": 2, "orientation": 3, "position_x": 9, "position_y": 30}
        assert np.array_equal(
            image_of(part, shape=chosen, **look), image_of(whole, shape=shape, **look)
        )


def test_sub_grid_spans_the_same_range_of_scales_and_positions():
    whole, part = Sprites2D(), Sprites2D(n_scales=2, n_positions=3)
    for chosen, value in ((0, 0), (1, 5)):
        assert np.array_equal(
            image_of(part, scale=chosen), image_of(whole, scale=value)
        )
    last = image_of(whole, position_x=31, position_y=31)
    assert np.array_equal(image_of(part, position_x=2, position_y=2), last)


def test_single_values_are_in_the_middle_and_upright():
    one = Sprites2D(shapes=("square",), n_scales=1, n_orientations=1, n_positions=1)
    assert len(one) == 1
    rows, columns = np.nonzero(one.images([0])[0, 0])
    assert np.ptp(rows) == np.ptp(columns) == pytest.approx(0.75 * 19 - 1, abs=1)
    assert rows.mean() == pytest.approx(31.5, abs=1)
    assert columns.mean() == pytest.approx(31.5, abs=1)


@pytest.mark.parametrize("image_size", [64, 63])
def test_works_through_the_whole_grid_in_little_memory(image_size):
    tracemalloc.start()
    try:
        sprites = Sprites2D(image_size=image_size)
        for rows in np.split(np.arange(len(sprites)), 720):
            sprites.images(rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 40e6


def test_used_dataset_is_small_enough_to_send_to_another_process():
    sprites = Sprites2D()
    expected = sprites.images([5, 700_000])
    sent = pickle.dumps(sprites)
    assert len(sent) < 4e6
    assert np.array_equal(pickle.loads(sent).images([5, 700_000]), expected)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 15}, "image_size must be between 16 and 64, got 15"),
        ({"image_size": 65}, "image_size must be between 16 and 64, got 65"),
        ({"n_scales": 0}, "n_scales must be between 1 and 6, got 0"),
        ({"n_orientations": 41}, "n_orientations must be between 1 and 40, got 41"),
        ({"n_positions": 33}, "n_positions must be between 1 and 32, got 33"),
        ({"shapes": ()}, "shapes must not be empty"),
        ({"shapes": ("heart", "heart")}, "shapes must be unique"),
        ({"shapes": ("star",)}, "'square', 'ellipse' or 'heart', got 'star'"),
    ],
)
def test_refuses_what_it_cannot_draw(options, message):
    with pytest.raises(ValueError, match=message):
        Sprites2D(**options)
