"""Crops of the two photographs in scikit-learn, which need no download."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import check_integer

_NAMES = ("china.jpg", "flower.jpg")
_HEIGHT, _WIDTH = 427, 640


@dataclass(frozen=True, kw_only=True)
class PhotographCrops(AbstractFactorDataset):
    """Square crops of two photographs, a temple and a flower, every few pixels.

    These are natural pictures to put behind or inside sprites if no others are
    available.

    Args:
        image_size: Side of a crop in pixels, at most 427.
        spacing: Distance of neighboring crops in pixels.

    Example:
        >>> crops = PhotographCrops()
        >>> len(crops), crops.factor_space.names
        (6716, ('photograph', 'row', 'column'))
    """

    image_size: int = 64
    spacing: int = 8

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=1, most=_HEIGHT)
        check_integer("spacing", self.spacing, least=1)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "photographs"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels, height and width."""
        return (3, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Photograph, row and column of the crop."""
        rows = (_HEIGHT - self.image_size) // self.spacing + 1
        columns = (_WIDTH - self.image_size) // self.spacing + 1
        return FactorSpace(
            ("photograph", "row", "column"),
            (len(_NAMES), rows, columns),
            ("categorical", "ordinal", "ordinal"),
        )

    @cached_property
    def _windows(self) -> NDArray[np.uint8]:
        """All crops as a view, ``(photograph, row, column, channel, size, size)``."""
        # Imported here, because importing scikit-learn takes a second.
        from sklearn.datasets import load_sample_image

        pictures = np.stack([load_sample_image(name) for name in _NAMES])
        window = (self.image_size, self.image_size)
        every = sliding_window_view(pictures, window, axis=(1, 2))
        return every[:, :: self.spacing, :: self.spacing]

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        photograph, row, column = self.factor_space.factors(indices).T
        return self._windows[photograph, row, column]
