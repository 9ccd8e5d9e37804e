import numpy as np
import pytest

from unbraid.data import XYObject, channel_statistics
from unbraid.randomness import numpy_generator


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


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        channel_statistics(XYObject(), rows=[])
