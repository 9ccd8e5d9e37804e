"""Crops of one picture, as in the published Scream-dSprites."""

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from PIL import ImageOps

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.data.own._picture import describe_fault, open_picture
from unbraid.foundation import DataFormatError, expand_user

_WIDTH, _HEIGHT, _CROP = 350, 274, 64


@dataclass(frozen=True, kw_only=True)
class PictureCrops(AbstractFactorDataset):
    """All square crops of a picture, which is scaled down first.

    The picture is scaled to fit into 350 x 274 pixels for crops of 64 x 64, and in
    proportion for other sizes; smaller pictures are not scaled. As in the published
    code, the last row and the last column of crops are excluded.

    Args:
        path: Path of the picture.
        image_size: Side of a crop in pixels.

    References:
        Locatello et al. (2019), Scream-dSprites of disentanglement_lib.
    """

    path: str | Path
    image_size: int = _CROP

    def __post_init__(self) -> None:
        height, width, _ = self._pixels.shape
        if min(height, width) <= self.image_size:
            raise ValueError(
                f"The picture {self.path} must be larger than its crops of "
                f"{self.image_size} x {self.image_size} pixels, got {width} x "
                f"{height}."
            )

    @property
    def name(self) -> str:
        """Short name."""
        return "picture_crops"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Three channels, height and width."""
        return 3, self.image_size, self.image_size

    @property
    def factor_space(self) -> FactorSpace:
        """Row and column of the crop."""
        height, width, _ = self._pixels.shape
        sizes = (height - self.image_size, width - self.image_size)
        return FactorSpace(("row", "column"), sizes)

    def fingerprint(self) -> str:
        """Return a hash of the scaled picture and of the size of the crops."""
        head = repr((type(self).__name__, self.image_size, self._pixels.shape))
        digest = hashlib.sha256(head.encode())
        digest.update(self._pixels.tobytes())
        return digest.hexdigest()

    @cached_property
    def _pixels(self) -> NDArray[np.uint8]:
        scale = self.image_size / _CROP
        try:
            with open_picture(expand_user(self.path)) as picture:
                ImageOps.exif_transpose(picture, in_place=True)
                picture = picture.convert("RGB")
            picture.thumbnail((_WIDTH * scale, _HEIGHT * scale))
        except Exception as error:  # Pillow raises errors of any kind for broken files
            fault = describe_fault(error)
            raise DataFormatError(
                f"{self.path} cannot be read as a picture: {fault}."
            ) from error
        return np.asarray(picture)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        size = (self.image_size, self.image_size)
        row, column = self.factor_space.factors(indices).T
        return sliding_window_view(self._pixels, size, axis=(0, 1))[row, column]
