"""Harder versions of a sprite dataset: colored, noisy, with pictures.

Every variant has the factors of its sprites and adds something that is not a factor.
This is a function of the seed and the index, so that an index always gives the same
image. Sprites with soft edges are blended by their gray level.
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
from unbraid.foundation import (
    check_number,
    check_option,
    check_seed,
    hashed_bytes,
)

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
                "sprites must have one channel, got images of shape "
                f"{self.sprites.image_shape}."
            )

    @property
    def base(self) -> AbstractDataset:
        """The sprites, of which this is a view."""
        return self.sprites

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels, height and width of the sprites."""
        _, height, width = self.sprites.image_shape
        return 3, height, width

    def fingerprint(self) -> str:
        """Return a hash of the options, and of the fingerprints of datasets in them."""
        parts = [self._hashed_name()]
        for value in self._ingredients():
            is_data = isinstance(value, AbstractDataset)
            parts.append(value.fingerprint() if is_data else repr(value))
        return hashlib.sha256(repr(parts).encode()).hexdigest()

    def _hashed_name(self) -> str:
        """Name of the class in fingerprints."""
        return type(self).__name__

    def _ingredients(self) -> list[Any]:
        """Return everything that the images depend on."""
        return [getattr(self, part.name) for part in fields(self)]


@dataclass(frozen=True, kw_only=True)
class ColoredSprites(_AbstractSpriteVariant):
    """Sprites in random bright colors, with every channel between 0.5 and 1.

    Args:
        sprites: Dataset of one-channel images.
        seed: Seed of the colors.

    References:
        Locatello et al. (2019), "Color-dSprites".
    """

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "coloured_sprites"

    def _hashed_name(self) -> str:
        # Fingerprints in existing study folders contain this spelling.
        return "ColouredSprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        color = 128 + hashed_bytes(self.seed, indices, 3) // 2
        return _multiply(self.sprites.images(indices), color[:, :, None, None])


@dataclass(frozen=True, kw_only=True)
class NoisySprites(_AbstractSpriteVariant):
    """White sprites on a background of uniform noise in every pixel and channel.

    Args:
        sprites: Dataset of one-channel images.
        seed: Seed of the noise.

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
        # min(1, sprite + noise), without overflow of uint8.
        room = 255 - sprites
        return sprites + np.minimum(noise.reshape(-1, *shape), room)


@dataclass(frozen=True, kw_only=True)
class _AbstractPictureVariant(_AbstractSpriteVariant):
    pictures: AbstractDataset | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self._stock.image_shape != self.image_shape:
            raise ValueError(
                f"pictures must have shape {self.image_shape}, as the sprites, got "
                f"{self._stock.image_shape}."
            )

    @cached_property
    def _stock(self) -> AbstractDataset:
        if self.pictures is not None:
            return self.pictures
        return self._default_pictures()

    def _default_pictures(self) -> AbstractDataset:
        return PhotographCrops(image_size=min(self.sprites.image_shape[1:]))

    def _pictures(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        """Return the picture of each index."""
        hashes = hashed_bytes(self.seed, indices, 8).copy().view("<u8")[:, 0]
        return self._stock.images((hashes % len(self._stock)).astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class ScreamSprites(_AbstractPictureVariant):
    """Sprites that invert the picture behind them, tinted in a random color.

    The background is the mean of a random picture and a random color; inside of the
    sprite, the background is inverted.

    Args:
        sprites: Dataset of one-channel images.
        seed: Seed of the pictures and colors.
        pictures: Dataset of pictures with three channels and the size of the sprites.
            Default: crops of two photographs.
        picture: Path of a picture of which random crops are used, instead of
            ``pictures``. With a photograph of "The Scream", the images are those of the
            published version: it is scaled to fit into 350 x 274 pixels, and crops are
            64 x 64.

    References:
        Locatello et al. (2019), "Scream-dSprites".
    """

    picture: str | Path | None = None

    def __post_init__(self) -> None:
        if self.picture is not None and self.pictures is not None:
            raise ValueError("pictures and picture cannot be given together.")
        super().__post_init__()

    def _default_pictures(self) -> AbstractDataset:
        if self.picture is None:
            return super()._default_pictures()
        size = min(self.sprites.image_shape[1:])
        return PictureCrops(path=self.picture, image_size=size)

    def _ingredients(self) -> list[Any]:
        # The content of the picture counts, not its path.
        *others, pictures, picture = super()._ingredients()
        return [*others, pictures if picture is None else self._stock]

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "scream_sprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        # Bytes 8 to 10, because the first eight determine the picture.
        tint = hashed_bytes(self.seed, indices, 11)[:, 8:, None, None]
        halves = self._pictures(indices) // 2 + tint // 2
        return _blend(self.sprites.images(indices), 255 - halves, halves)


@dataclass(frozen=True, kw_only=True)
class PictureSprites(_AbstractPictureVariant):
    """A picture behind or inside each sprite, with a visibility from 0 to 100.

    Behind a white sprite, the picture fades to black with less visibility; inside a
    sprite on black, it fades to white. With visibility 0, both are the plain sprites.
    The picture is independent of the factors: the more visible it is, the more it hides
    the distances that a model could learn from.

    Args:
        sprites: Dataset of one-channel images.
        seed: Seed of the pictures.
        pictures: Dataset of pictures with three channels and the size of the sprites,
            such as an ``ImageFolder`` or ``TinyImageNet``. Default: crops of two
            photographs.
        where: Position of the picture, ``"behind"`` or ``"inside"`` the sprite.
        visibility: Visibility of the picture in percent.

    References:
        Michlo (2022), dissertation, section 7.3, "dSprites-ImageNet".
    """

    where: Literal["behind", "inside"] = "behind"
    visibility: int = 100

    def __post_init__(self) -> None:
        super().__post_init__()
        check_option("where", self.where, ("behind", "inside"))
        check_number("visibility", self.visibility, least=0, most=100)

    @property
    def name(self) -> str:
        """Name in the catalog."""
        return "picture_sprites"

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        sprites = self.sprites.images(indices)
        share = np.round(255 * self.visibility / 100).astype(np.uint8)
        faded = _multiply(self._pictures(indices), share)
        if self.where == "behind":
            return sprites + _multiply(faded, 255 - sprites)
        return _multiply(faded + (255 - share), sprites)


def _multiply(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the rounded product of numbers in 255ths; exact for 0 and 255."""
    product = a.astype(np.uint16) * b
    product += 128
    # Division by 255 by shifts, which is correct for every product of two bytes.
    product += product >> 8
    return (product >> 8).astype(np.uint8)


def _blend(
    share: NDArray[np.uint8], inside: NDArray[np.uint8], outside: NDArray[np.uint8]
) -> NDArray[np.uint8]:
    return _multiply(inside, share) + _multiply(outside, 255 - share)
