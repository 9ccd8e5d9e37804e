"""A dataset with no labels at all, for what must refuse it."""

import numpy as np

from unbraid.data import AbstractDataset


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
