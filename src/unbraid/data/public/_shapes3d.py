"""3D Shapes: an object in a room."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace

from ._labels import encode_labels, require_grid
from ._published import AbstractPublishedDataset, Content


@dataclass(frozen=True, kw_only=True)
class Shapes3D(AbstractPublishedDataset, AbstractFactorDataset):
    """480,000 images of an object in a room: 64 x 64, in color.

    Factors: floor_hue (10), wall_hue (10), object_hue (10), scale (8), shape (4) and
    orientation (15), the angle of the camera. The published file is compressed, so that
    the images are converted once (5.9 GB) and memory-mapped.

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the file if it is missing (268 MB).

    Example:
        >>> Shapes3D.files[0].name
        '3dshapes.h5'

    References:
        Burgess and Kim (2018), 3D Shapes Dataset.
        https://github.com/google-deepmind/3d-shapes License: Apache 2.0.
    """

    short_name: ClassVar[str] = "shapes3d"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            name="3dshapes.h5",
            page="https://github.com/google-deepmind/3d-shapes",
            size=267_573_662,
            checksum="sha256:"
            "0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
            urls=("https://storage.googleapis.com/3d-shapes/3dshapes.h5",),
        ),
    )

    def _open(self, *paths: Path) -> Content:
        # Imported here because h5py is slow to import.
        from unbraid.data._hdf5 import hdf5_array, hdf5_images

        (path,) = paths
        values, sizes = encode_labels(path, hdf5_array(path, "labels"), n_factors=6)
        space = FactorSpace(
            ("floor_hue", "wall_hue", "object_hue", "scale", "shape", "orientation"),
            sizes,
            ("cyclic", "cyclic", "cyclic", "ordinal", "categorical", "ordinal"),
        )
        require_grid(path, values, space)
        pixels = hdf5_images(path, "images", shape=(space.size, None, None, 3))
        return Content(pixels, space)
