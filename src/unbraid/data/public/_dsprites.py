"""dSprites: white shapes in two dimensions."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace
from unbraid.data._npz import npz_array, npz_images
from unbraid.foundation import DataFormatError

from ._labels import encode_labels, require_grid
from ._published import AbstractPublishedDataset, Content

_FILE = "dsprites_ndarray_co1sh3sc6or40x32y32_64x64"


@dataclass(frozen=True, kw_only=True)
class DSprites(AbstractPublishedDataset, AbstractFactorDataset):
    """737,280 images of a square, an ellipse or a heart: 64 x 64, black and white.

    Factors: shape (3), scale (6), orientation (40), position_x (32), position_y (32).
    The factor color of the file, with a single value, is omitted. Pixels are 0 and 1 in
    the file, 0 and 255 here.

    Either of the two published files can be used. Both are compressed, so that the
    images are converted once (3.0 GB) and memory-mapped.

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the file if it is missing (27 MB).

    Example:
        >>> DSprites.folder("data").as_posix()
        'data/dsprites'

    References:
        Matthey, Higgins, Hassabis and Lerchner (2017), dSprites: Disentanglement
        testing Sprites dataset. https://github.com/google-deepmind/dsprites-dataset
        License: zlib/libpng.
    """

    short_name: ClassVar[str] = "dsprites"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            name=f"{_FILE}.npz",
            page="https://github.com/google-deepmind/dsprites-dataset",
            checksum="md5:7da33b31b13a06f4b04a70402ce90c2e",
            urls=(
                "https://github.com/google-deepmind/dsprites-dataset/raw/master/"
                f"{_FILE}.npz",
                "https://raw.githubusercontent.com/deepmind/dsprites-dataset/master/"
                f"{_FILE}.npz",
            ),
            alternatives=(f"{_FILE}.hdf5",),
        ),
    )

    def _open(self, *paths: Path) -> Content:
        (path,) = paths
        if path.suffix == ".npz":
            read, images = npz_array(path, "latents_classes"), npz_images
        else:
            # Imported here because h5py is slow to import.
            from unbraid.data._hdf5 import hdf5_array, hdf5_images

            read, images = hdf5_array(path, "latents/classes"), hdf5_images
        labels, (_, *sizes) = encode_labels(path, read, n_factors=6)
        names = ("shape", "scale", "orientation", "position_x", "position_y")
        kinds = ("categorical", "ordinal", "cyclic", "ordinal", "ordinal")
        space = FactorSpace(names, tuple(sizes), kinds)
        require_grid(path, labels[:, 1:], space)
        pixels = images(path, "imgs", shape=(space.size, None, None))
        # Some images are enough to detect a file with other gray levels.
        brightest = int(pixels[:: max(1, len(pixels) // 64)].max())
        if brightest > 1:
            raise DataFormatError(
                f"{path} must contain pixels of 0 and 1, got up to {brightest}. "
                "This is not the published file: download it again."
            )
        return Content(pixels[..., None], space)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        images = super()._gather(indices)
        images *= 255
        return images
