"""Harder versions of a sprite dataset: colored, noisy, with pictures.

Every variant has the factors of the sprites under it and adds something that is not a
factor. What it adds is a function of the seed and the index, so that an index always
gives the same picture. Sprites with soft edges are blended by their gray level.
"""

import hashlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractDataset
from unbraid.data._views import AbstractView
from unbraid.foundation import check_seed, hashed_bytes

from ._photographs import PhotographCrops
from ._picture_crops import PictureCrops
from ._sprites2d import Sprites2D


@dataclass(frozen=True, kw_only=True)
class _AbstractSpriteVariant(AbstractView):
    sprites: AbstractDataset = field(default_factory=Sprites2D)
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.sprites.image_shape[0] != 1:
            raise ValueError(
                f"{type(self).__name__}: expected sprites with one channel, got "
                f"images of shape {self.sprites.image_shape}."
            )

    @property
    def base(self) -> AbstractDataset:
        """The sprites."""
        return self.sprites

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels, as large as the sprites."""
        _, height, width = self.sprites.image_shape
        return 3, height, width

    def fingerprint(self) -> str:
        """Hash of the fingerprints of what it is made of, and of the options."""
        parts = [self._hashed_name()]
        for value in self._ingredients():
            is_data = isinstance(value, AbstractDataset)
            parts.append(value.fingerprint() if is_data else repr(value))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _hashed_name(self) -> str:
        """Name of the class in fingerprints."""
        return type(self).__name__

    def _ingredients(self) -> list[Any]:
        """Everything that the images depend on."""
        return [getattr(self, part.name) for part in fields(self)]


@dataclass(frozen=True, kw_only=True)
class ColoredSprites(_AbstractSpriteVariant):
    """Each sprite in a random bright color, every channel between a half and one.

    Args:
        sprites: Any dataset of one-channel images.
        seed: The same seed gives the same colors.

    References:
        Locatello et al. (2019), "Color-dSprites".
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "coloured_sprites"

    def _hashed_name(self) -> str:
        # Fingerprints in existing study folders were made with this spelling.
        return "ColouredSprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        color = 128 + hashed_bytes(self.seed, indices, 3) // 2
        return _times(self.sprites.images(indices), color[:, :, None, None])


@dataclass(frozen=True, kw_only=True)
class NoisySprites(_AbstractSpriteVariant):
    """White sprites on a background of uniform noise in every pixel and channel.

    Args:
        sprites: Any dataset of one-channel images.
        seed: The same seed gives the same noise.

    References:
        Locatello et al. (2019), "Noisy-dSprites".
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "noisy_sprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        shape = self.image_shape
        noise = hashed_bytes(self.seed, indices, int(np.prod(shape)))
        sprites = self.sprites.images(indices)
        # The smaller of the noise and what is missing to white, added: min(1, s + n)
        # without leaving uint8.
        room = 255 - sprites
        return sprites + np.minimum(noise.reshape(-1, *shape), room)


@dataclass(frozen=True, kw_only=True)
class _AbstractPictureVariant(_AbstractSpriteVariant):
    pictures: AbstractDataset | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._stock.image_shape != self.image_shape:
            raise ValueError(
                f"{type(self).__name__}: expected pictures of shape {self.image_shape} "
                f"to go with the sprites, got {self._stock.image_shape}."
            )

    @cached_property
    def _stock(self) -> AbstractDataset:
        if self.pictures is not None:
            return self.pictures
        return self._default_pictures()

    def _default_pictures(self) -> AbstractDataset:
        return PhotographCrops(image_size=min(self.sprites.image_shape[1:]))

    def _pictures(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The picture that belongs to each index."""
        words = hashed_bytes(self.seed, indices, 8).copy().view("<u8")[:, 0]
        return self._stock.images((words % len(self._stock)).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class ScreamSprites(_AbstractPictureVariant):
    """Sprites that invert the picture behind them, tinted in a random color.

    The background is the mean of a random picture and one random color; where the
    sprite stands, the background is inverted.

    Args:
        sprites: Any dataset of one-channel images.
        seed: The same seed gives the same pictures and colors.
        pictures: Stock of pictures, three channels, as large as the sprites; crops of
            two photographs when not given.
        picture: Path of one picture to take random crops of, in place of ``pictures``.
            With a photograph of "The Scream", the images are those of the published
            version: it is scaled to fit into 350 x 274 pixels, and crops are 64 x 64.

    References:
        Locatello et al. (2019), "Scream-dSprites".
    """

    picture: str | Path | None = None

    def __post_init__(self) -> None:
        if self.picture is not None and self.pictures is not None:
            raise ValueError("ScreamSprites: takes pictures or a picture, not both.")
        super().__post_init__()

    def _default_pictures(self) -> AbstractDataset:
        if self.picture is None:
            return super()._default_pictures()
        size = min(self.sprites.image_shape[1:])
        return PictureCrops(path=self.picture, image_size=size)

    def _ingredients(self) -> list[Any]:
        # The picture counts by its content, as a stock of pictures, and not by its
        # path.
        *others, pictures, picture = super()._ingredients()
        return [*others, pictures if picture is None else self._stock]

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "scream_sprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        # Bytes 8 to 10: the first eight have chosen the picture.
        tint = hashed_bytes(self.seed, indices, 11)[:, 8:, None, None]
        halves = self._pictures(indices) // 2 + tint // 2
        return _blend(self.sprites.images(indices), 255 - halves, halves)


@dataclass(frozen=True, kw_only=True)
class PictureSprites(_AbstractPictureVariant):
    """A picture behind or inside each sprite, with a visibility from 0 to 100.

    Behind, the sprite is white and the picture fades to black with less visibility;
    inside, the rest is black and the picture fades to white. At visibility 0 both are
    the plain sprites. The picture has nothing to do with the factors: more of it hides
    the distances that a model could learn from.

    Args:
        sprites: Any dataset of one-channel images.
        seed: The same seed gives the same pictures.
        pictures: Stock of pictures, three channels, as large as the sprites, such as
            an ``ImageFolder`` or ``TinyImageNet``; crops of two photographs when not
            given.
        where: Whether the picture stands behind or inside the sprite.
        visibility: Percent of the picture that is seen.

    References:
        Michlo (2022), dissertation, section 7.3, "dSprites-ImageNet".
    """

    where: Literal["behind", "inside"] = "behind"
    visibility: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.where not in ("behind", "inside"):
            raise ValueError(
                "PictureSprites: expected where 'behind' or 'inside', got "
                f"{self.where!r}."
            )
        if not 0 <= self.visibility <= 100:
            raise ValueError(
                "PictureSprites: expected a visibility from 0 to 100, got "
                f"{self.visibility}."
            )

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "picture_sprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        sprites = self.sprites.images(indices)
        seen = np.round(255 * self.visibility / 100).astype(np.uint8)
        faded = _times(self._pictures(indices), seen)
        if self.where == "behind":
            return sprites + _times(faded, 255 - sprites)
        return _times(faded + (255 - seen), sprites)


def _times(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Product of numbers of 255ths, rounded: exact at 0 and 255."""
    product = a.astype(np.uint16) * b
    product += 128
    # Division by 255 in shifts, right for every product of two bytes.
    product += product >> 8
    return (product >> 8).astype(np.uint8)


def _blend(
    share: NDArray[np.uint8], inside: NDArray[np.uint8], outside: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    return _times(inside, share) + _times(outside, 255 - share)
