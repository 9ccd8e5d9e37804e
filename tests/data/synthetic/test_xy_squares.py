import numpy as np
import pytest

from unbraid.data import XYSquares, compare_statistics
from unbraid.foundation import numpy_generator


def literal_image(factors, square=8, spacing=8, size=64, grid=8):
    """One image drawn pixel by pixel, as the dissertation describes it."""
    image = np.zeros((3, size, size), dtype=np.uint8)
    offset = (size - (square + (grid - 1) * spacing)) // 2
    for channel in range(3):
        x, y = factors[2 * channel : 2 * channel + 2]
        for i in range(square):
            for j in range(square):
                image[channel, offset + y * spacing + i, offset + x * spacing + j] = 255
    return image


@pytest.mark.parametrize("spacing", range(1, 9))
def test_images_equal_a_drawing_pixel_by_pixel(spacing):
    squares = XYSquares(spacing=spacing)
    rows = numpy_generator(spacing).integers(0, len(squares), 20)
    expected = [
        literal_image(row, spacing=spacing) for row in squares.factors(rows).tolist()
    ]
    np.testing.assert_array_equal(squares.images(rows), expected)


def test_channel_constants_are_those_of_table_a2():
    comparison = compare_statistics(XYSquares())
    assert comparison.largest_difference < 1e-6
    assert comparison.agrees


def perceived_distances(dataset, factor, *, n_pairs, seed=0):
    """Mean squared pixel difference of pairs that differ in one factor (Eq. 3.9)."""
    generator, space = numpy_generator(seed), dataset.factor_space
    first = space.sample(n_pairs, generator=generator)
    if factor is None:
        second = space.sample(n_pairs, generator=generator)
        differ = (first != second).any(axis=1)
        first, second = first[differ], second[differ]
    else:
        column, second = space.position(factor), first.copy()
        size = space.sizes[column]
        second[:, column] += generator.integers(1, size, n_pairs)
        second[:, column] %= size
    images = [dataset.images(space.indices(rows)) / 255 for rows in (first, second)]
    return ((images[0] - images[1]) ** 2).mean(axis=(1, 2, 3))


def test_distances_are_those_of_table_3_1():
    squares = XYSquares()
    random = perceived_distances(squares, None, n_pairs=4000)
    # The table prints four digits; a mean over 4000 pairs has a standard error of 3e-5.
    assert random.mean() == pytest.approx(0.0308, abs=2e-4)
    assert random.std() == pytest.approx(0.0022, abs=2e-4)
    for factor in squares.factor_space.names:
        along = perceived_distances(squares, factor, n_pairs=500)
        assert along.mean() == pytest.approx(0.0104, abs=5e-5)
        assert along.std() == pytest.approx(0.0, abs=1e-12)


def test_less_spacing_keeps_the_factors_and_gives_an_order():
    near = XYSquares(spacing=1)
    assert len(near) == len(XYSquares()) == 8**6
    rows = near.factor_space.traversals("x_R", np.array([0]))[0]
    images = near.images(rows).astype(float)
    distances = ((images - images[0]) ** 2).mean(axis=(1, 2, 3))
    assert (np.diff(distances) > 0).all()


def test_the_miniature_has_the_same_constant_distance_as_the_original():
    miniature = XYSquares(image_size=8, square_size=1)
    assert miniature.factor_space == XYSquares().factor_space
    along = perceived_distances(miniature, "y_G", n_pairs=500)
    assert along.mean() == pytest.approx(0.0104, abs=5e-5)
    assert along.std() == pytest.approx(0.0, abs=1e-12)


def test_a_smaller_grid_is_centered():
    few = XYSquares(grid_size=2, n_squares=1)
    assert few.factor_space.sizes == (2, 2)
    image = few.images([0])[0, 0]
    assert (image[24:32, 24:32] == 255).all()


def test_gray_squares_share_one_channel():
    gray = XYSquares(rgb=False, n_squares=2)
    assert gray.image_shape == (1, 64, 64)
    image = gray.images(gray.factor_space.indices(np.array([[0, 0, 7, 7]])))[0, 0]
    assert (image[:8, :8] == 255).all()
    assert (image[56:, 56:] == 255).all()
    assert image.sum() == 2 * 64 * 255


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"square_size": 0}, "square_size must be between 1 and 64"),
        ({"square_size": 65}, "square_size must be between 1 and 64"),
        ({"spacing": 0}, "spacing must be at least 1"),
        ({"n_squares": 4}, "n_squares must be 1, 2 or 3"),
        ({"grid_size": 9}, "grid_size must be between 1 and 8"),
    ],
)
def test_impossible_settings_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        XYSquares(**options)
