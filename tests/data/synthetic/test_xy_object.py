import numpy as np
import pytest

from unbraid.data import XYObject, XYObjectShaded, compare_statistics
from unbraid.foundation import numpy_generator

HUES = ["100", "110", "010", "011", "001", "101"]


def literal_image(x, y, scale, color):
    """One image drawn pixel by pixel: centered in a box of 15 at every second pixel."""
    image = np.zeros((3, 64, 64), dtype=np.uint8)
    side = (7, 9, 11, 13, 15)[scale]
    level, hue = (63, 127, 191, 255)[color // 6], HUES[color % 6]
    for channel in range(3):
        for i in range(side):
            for j in range(side):
                row, column = 2 * y + (15 - side) // 2 + i, 2 * x + (15 - side) // 2 + j
                image[channel, row, column] = level * int(hue[channel])
    return image


def test_images_equal_a_drawing_pixel_by_pixel():
    objects = XYObject()
    rows = numpy_generator(0).integers(0, len(objects), 50)
    expected = [literal_image(*row) for row in objects.factors(rows).tolist()]
    np.testing.assert_array_equal(objects.images(rows), expected)


@pytest.mark.parametrize("dataset", [XYObject(), XYObjectShaded()])
def test_channel_constants_are_those_of_table_a2(dataset):
    comparison = compare_statistics(dataset)
    assert comparison.largest_difference < 1e-6
    assert comparison.agrees


def test_the_shaded_version_has_the_same_images_in_the_same_order():
    rows = numpy_generator(1).integers(0, 75_000, 200)
    np.testing.assert_array_equal(
        XYObject().images(rows), XYObjectShaded().images(rows)
    )
    mixed = XYObject().factors(rows)
    split = XYObjectShaded().factors(rows)
    np.testing.assert_array_equal(mixed[:, 3], split[:, 3] * 6 + split[:, 4])


@pytest.mark.parametrize(
    ("palette", "n_colors"),
    [("greys_1", 1), ("greys_4", 4), ("rgb_2", 6), ("rainbow_1", 6), ("colors_4", 28)],
)
def test_palettes_have_their_number_of_colors_and_all_differ(palette, n_colors):
    objects = XYObject(palette=palette)
    assert objects.factor_space.sizes[3] == n_colors
    rows = objects.factor_space.traversals("color", np.array([0]))[0]
    assert len(np.unique(objects.images(rows), axis=0)) == n_colors
    assert objects.images(rows).max() == 255


def test_the_kind_of_the_hue_factor_follows_the_palette():
    assert XYObjectShaded().factor_space.kinds[-1] == "cyclic"
    assert XYObjectShaded(palette="rgb_4").factor_space.kinds[-1] == "categorical"


def test_positions_are_centered_in_an_image_that_they_do_not_fill():
    objects = XYObject(image_size=11, square_sizes=(4,), spacing=3, palette="greys_1")
    images = objects.images(range(len(objects)))
    columns = np.flatnonzero(images.any(axis=(0, 1, 2)))
    assert (columns.min(), columns.max()) == (0, 9)
    wide = XYObject(image_size=12, square_sizes=(4,), spacing=3, palette="greys_1")
    columns = np.flatnonzero(wide.images(range(9)).any(axis=(0, 1, 2)))
    assert (columns.min(), columns.max()) == (1, 10)


def test_gray_objects_may_have_one_channel():
    gray = XYObject(palette="greys_2", rgb=False)
    assert gray.image_shape == (1, 64, 64)
    assert set(np.unique(gray.images(range(len(gray) // 50)))) == {0, 127, 255}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"square_sizes": ()}, "square_sizes must not be empty"),
        ({"square_sizes": (65,)}, r"square_sizes\[0\] must be between 1 and 64"),
        ({"spacing": 0}, "spacing must be at least 1"),
        ({"palette": "pastel_3"}, "palette must be 'greys_1'"),
        ({"rgb": False}, "palette must be greys_1, .* for one channel"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        XYObject(**options)
