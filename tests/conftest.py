import numpy as np
import pytest

from unbraid.data import AbstractDataset, XYSquares


class PlainImages(AbstractDataset):
    """Six grey images without labels: image ``i`` is filled with ``10 * i``."""

    @property
    def name(self):
        return "plain"

    @property
    def image_shape(self):
        return (1, 8, 8)

    def __len__(self):
        return 6

    def _gather(self, indices):
        images = np.empty((len(indices), 1, 8, 8), dtype=np.uint8)
        images[:] = (10 * indices)[:, None, None, None]
        return images


@pytest.fixture
def plain_images():
    """A dataset with no labels at all."""
    return PlainImages()


@pytest.fixture
def tiny_grid():
    """A complete grid of two factors, 16 images of 4x4 pixels."""
    return XYSquares(n_squares=1, image_size=4, square_size=1)
