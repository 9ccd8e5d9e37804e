import numpy as np
import pytest

from unbraid.data import LabeledImages, XYObject, channel_statistics
from unbraid.foundation import numpy_generator


def test_statistics_equal_a_literal_computation():
    objects = XYObject()
    rows = numpy_generator(0).integers(0, len(objects), 3000)
    images = objects.images(rows) / 255
    statistics = channel_statistics(objects, rows)
    np.testing.assert_allclose(statistics.mean, images.mean(axis=(0, 2, 3)), rtol=1e-12)
    within = images.reshape(len(rows), 3, -1).std(axis=2, ddof=1).mean(axis=0)
    np.testing.assert_allclose(statistics.std, within, rtol=1e-12)
    np.testing.assert_allclose(
        statistics.total_std, images.std(axis=(0, 2, 3)), rtol=1e-12
    )


def test_images_of_one_pixel_have_no_spread():
    dots = LabeledImages(np.array([7, 9], dtype=np.uint8).reshape(2, 1, 1))
    statistics = channel_statistics(dots)
    assert statistics.std == (0.0,)
    assert statistics.mean == (8 / 255,)


def test_wide_images_lose_no_digits():
    wide = np.full((2, 4, 1024), 250, dtype=np.uint8)
    wide[:, :, ::2] = 251
    statistics = channel_statistics(LabeledImages(wide))
    assert statistics.total_std[0] == pytest.approx(0.5 / 255, rel=1e-9)
    flat = LabeledImages(np.full((1, 2000, 2000), 253, dtype=np.uint8))
    assert channel_statistics(flat).std == (0.0,)


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="rows must not be empty"):
        channel_statistics(XYObject(), rows=[])
