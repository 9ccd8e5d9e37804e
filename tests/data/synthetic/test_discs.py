import math

import numpy as np
import pytest

from unbraid.data import Discs
from unbraid.foundation import numpy_generator


def literal_image(factors, sizes, side):
    """One image drawn pixel by pixel, in the words of the docstring."""
    x, y, size, color = (
        value / (n - 1) if n > 1 else 0.5
        for value, n in zip(factors, sizes, strict=True)
    )
    center_x, center_y = (side * 5 / 16 + side * 6 / 16 * part for part in (x, y))
    radius = side / 8 + (1 / 4 - 1 / 8) * side * size
    blue, orange = (0.1, 0.45, 1.0), (1.0, 0.55, 0.1)
    image = np.zeros((3, side, side), dtype=np.uint8)
    for row in range(side):
        for column in range(side):
            away = math.hypot(column + 0.5 - center_x, row + 0.5 - center_y)
            covered = min(max(radius - away + 0.5, 0.0), 1.0)
            for channel in range(3):
                level = (1 - color) * blue[channel] + color * orange[channel]
                image[channel, row, column] = round(255 * covered * level)
    return image


@pytest.mark.parametrize(
    "discs", [Discs(), Discs(image_size=9, n_positions=3, n_sizes=1, n_colors=2)]
)
def test_images_equal_a_drawing_pixel_by_pixel(discs):
    rows = numpy_generator(0).integers(0, len(discs), 10)
    expected = [
        literal_image(row, discs.factor_space.sizes, discs.image_size)
        for row in discs.factors(rows).tolist()
    ]
    # The two ways to add may round a level that lies between two numbers differently.
    difference = discs.images(rows).astype(int) - np.array(expected).astype(int)
    assert np.abs(difference).max() <= 1
    assert np.mean(difference != 0) < 0.01


def test_no_disc_touches_the_edge_and_every_factor_changes_the_image():
    discs = Discs()
    images = discs.images(np.arange(len(discs)))
    assert images[..., 0].max() == images[..., -1].max() == 0
    assert images[..., 0, :].max() == images[..., -1, :].max() == 0
    images = images.reshape(*discs.factor_space.sizes, -1).astype(int)
    for axis in range(4):
        steps = np.abs(np.diff(images, axis=axis)).sum(axis=-1)
        assert steps.min() > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_size": 7}, "image_size must be between 8 and"),
        ({"n_positions": 0}, "n_positions must be at least 1, got 0"),
        ({"n_colors": 2.5}, "n_colors must be an integer, got 2.5"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Discs(**options)
