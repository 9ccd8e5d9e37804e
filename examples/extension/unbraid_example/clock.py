"""Images of a clock, with two cyclic factors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractFactorDataset, FactorSpace
from unbraid.foundation import check_integer


@dataclass(frozen=True, kw_only=True)
class Clock(AbstractFactorDataset):
    """Images of a clock whose two hands move independently.

    Args:
        image_size: Height and width in pixels, at least 8.
        n_hours: Number of positions of the short hand, at least 2.
        n_minutes: Number of positions of the long hand, at least 2.
    """

    image_size: int = 64
    n_hours: int = 12
    n_minutes: int = 60

    def __post_init__(self) -> None:
        for name, least in (("image_size", 8), ("n_hours", 2), ("n_minutes", 2)):
            check_integer(name, getattr(self, name), least=least)

    @property
    def name(self) -> str:
        """Name of the dataset."""
        return "clock"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """One gray channel."""
        return (1, self.image_size, self.image_size)

    @property
    def factor_space(self) -> FactorSpace:
        """Positions of the two hands."""
        sizes = (self.n_hours, self.n_minutes)
        return FactorSpace(("hour", "minute"), sizes, ("cyclic", "cyclic"))

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        turns = self.factor_space.factors(indices) / self.factor_space.sizes
        axis = (np.arange(self.image_size) + 0.5) / self.image_size * 2 - 1
        right, down = np.meshgrid(axis, axis)
        images = np.zeros((len(indices), self.image_size, self.image_size))
        for hand, (length, width) in enumerate(((0.5, 0.1), (0.85, 0.05))):
            angle = 2 * np.pi * turns[:, hand, None, None]
            along = right * np.sin(angle) - down * np.cos(angle)
            across = np.abs(right * np.cos(angle) + down * np.sin(angle))
            # Distance from the hand, with an edge one pixel wide.
            beyond = np.maximum(np.maximum(along - length, -along), 0)
            apart = np.hypot(across, beyond) - width
            np.maximum(images, 0.5 - apart * self.image_size / 2, out=images)
        return (255 * images.clip(0, 1)).round().astype(np.uint8)[:, None]
