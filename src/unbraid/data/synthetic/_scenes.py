"""SpriteScenes: several colored sprites on black, with their masks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractDataset, Kind
from unbraid.foundation import check_integer, check_number, check_seed, hashed_bytes

from ._scene_drawing import SPRITE_SHAPES, draw_masks, hues, paint

MARGIN = 0.1
"""Distance of the centers of sprites from the border, relative to the side."""

_FACTORS: dict[str, Kind] = {
    "x": "continuous",
    "y": "continuous",
    "shape": "categorical",
    "size": "continuous",
    "color": "categorical",
}


@dataclass(frozen=True, kw_only=True)
class SpriteScenes(AbstractDataset):
    """Random scenes of squares, triangles and discs that may cover each other.

    Every factor of every sprite is independent and uniform. Centers lie between 0.1
    and 0.9 of the side of the image, shapes of the same size have the same area, later
    sprites are in front of earlier ones, and colors are bright hues. A scene depends
    on its index and the seed alone.

    Args:
        n_sprites: Number of sprites, at least 1.
        image_size: Side of the image in pixels, at least 8.
        n_scenes: Number of images.
        n_colors: Number of hues, evenly spread.
        smallest: Smallest size: the radius of a disc of the same area, relative to the
            side of the image.
        largest: Largest size.
        seed: Seed of the scenes.

    Example:
        >>> scenes = SpriteScenes(n_sprites=2, image_size=16)
        >>> scenes.images([0]).shape, scenes.masks([0]).shape
        ((1, 3, 16, 16), (1, 3, 16, 16))
        >>> scenes.factor_names[:5]
        ('x_1', 'y_1', 'shape_1', 'size_1', 'color_1')

    References:
        Watters, Matthey, Borgeaud, Kabra and Lerchner (2019), Spriteworld: A Flexible,
        Configurable Reinforcement Learning Environment.
        https://github.com/deepmind/spriteworld
    """

    n_sprites: int = 3
    image_size: int = 32
    n_scenes: int = 100_000
    n_colors: int = 6
    smallest: float = 0.1
    largest: float = 0.16
    seed: int = 0

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=8, most=LARGEST_IMAGE)
        for name in ("n_sprites", "n_scenes", "n_colors"):
            check_integer(name, getattr(self, name), least=1)
        check_number("smallest", self.smallest, above=0.0, most=0.5)
        check_number("largest", self.largest, least=self.smallest, most=0.5)
        check_seed(self.seed)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "sprite_scenes"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels."""
        return (3, self.image_size, self.image_size)

    def __len__(self) -> int:
        return self.n_scenes

    @property
    def factor_names(self) -> tuple[str, ...]:
        """Position, shape, size and color of each sprite, from back to front."""
        if self.n_sprites == 1:
            return tuple(_FACTORS)
        sprites = range(1, self.n_sprites + 1)
        return tuple(f"{name}_{sprite}" for sprite in sprites for name in _FACTORS)

    @property
    def factor_kinds(self) -> tuple[Kind, ...]:
        """Positions and sizes are continuous, shapes and colors are categorical."""
        return tuple(_FACTORS.values()) * self.n_sprites

    def masks(self, indices: ArrayLike) -> NDArray[np.float32]:
        """Visible part of the background and of each sprite.

        Args:
            indices: As for :meth:`images`.

        Returns:
            From 0 to 1, ``(n, 1 + n_sprites, height, width)``, the background first.
            The masks of a scene add up to 1 in every pixel.
        """
        return self._draw_masks(self._sprites(self._check_indices(indices)))

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        sprites = self._sprites(indices)
        colors = hues(self.n_colors)[sprites[..., 4].astype(np.int64)]
        return paint(self._draw_masks(sprites), colors)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[Any]:
        return self._sprites(indices).reshape(len(indices), -1)

    def _draw_masks(self, sprites: NDArray[np.float64]) -> NDArray[np.float32]:
        return draw_masks(
            sprites[..., :2],
            sprites[..., 2].astype(np.int64),
            sprites[..., 3],
            image_size=self.image_size,
        )

    def _sprites(self, indices: NDArray[np.int64]) -> NDArray[np.float64]:
        """Factors of every sprite, ``(n, n_sprites, 5)``."""
        n_numbers = self.n_sprites * len(_FACTORS)
        raw = hashed_bytes(self.seed, indices, 4 * n_numbers)
        numbers = np.ascontiguousarray(raw).view("<u4") / 2**32
        sprites = numbers.reshape(-1, self.n_sprites, len(_FACTORS))
        x, y, shape, size, color = np.moveaxis(sprites, 2, 0)
        return np.stack(
            [
                MARGIN + (1 - 2 * MARGIN) * x,
                MARGIN + (1 - 2 * MARGIN) * y,
                np.floor(len(SPRITE_SHAPES) * shape),
                self.smallest + (self.largest - self.smallest) * size,
                np.floor(self.n_colors * color),
            ],
            axis=2,
        )
