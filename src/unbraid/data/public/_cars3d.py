"""Cars3D: cars seen from all around."""

import io
import tarfile
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace
from unbraid.data._memory_map import Blocks, converted_once, require_layout
from unbraid.foundation import DataFormatError, format_bytes

from ._published import AbstractPublishedDataset, Content
from ._resize import require_image_size, resized_label, squared

_N_ELEVATIONS, _N_AZIMUTHS = 4, 24
_LIST = "data/cars/list.txt"
_MOST_BYTES = 100_000_000
"""Size of the largest member of the archive."""

# What scipy raises for damaged and foreign files, besides its own error: found by
# trying.
_BAD_MAT = (
    zlib.error,
    LookupError,
    NotImplementedError,
    OSError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True, kw_only=True)
class Cars3D(AbstractPublishedDataset, AbstractFactorDataset):
    """17,568 images of 183 car models from 96 directions, in color.

    Factors: elevation (4), azimuth (24), object_type (183), the cars in the order of
    the published list. The files have 128 x 128 pixels; 64 x 64, as is customary, are
    made of them once (216 MB).

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Fetch the file if it is missing.
        image_size: Side of the images in pixels.

    Example:
        >>> Cars3D.files[0].name
        'nips2015-analogy-data.tar.gz'

    References:
        Reed, Zhang, Zhang and Lee (2015), Deep Visual Analogy-Making.
        https://papers.nips.cc/paper/5845-deep-visual-analogy-making
        Departs from disentanglement_lib, which numbers the cars in the order in which
        the folder happens to be listed.
    """

    image_size: int = 64

    short_name: ClassVar[str] = "cars3d"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            name="nips2015-analogy-data.tar.gz",
            page="http://www.scottreed.info",
            checksum="md5:4e866a7919c1beedf53964e6f7a23686",
            urls=(
                "http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
                "http://www-personal.umich.edu/~reedscot/files/"
                "nips2015-analogy-data.tar.gz",
            ),
        ),
    )

    def __post_init__(self) -> None:
        require_image_size("Cars3D", self.image_size)
        super().__post_init__()

    def _open(self, *paths: Path) -> Content:
        (path,) = paths
        pixels = converted_once(
            [path],
            f"cars-{resized_label(self.image_size)}",
            lambda: _convert(path, self.image_size),
        )
        space = FactorSpace(
            ("elevation", "azimuth", "object_type"),
            (_N_ELEVATIONS, _N_AZIMUTHS, len(pixels) // _N_ELEVATIONS // _N_AZIMUTHS),
            ("ordinal", "cyclic", "categorical"),
        )
        return Content(pixels, space)


def _convert(path: Path, size: int) -> tuple[tuple[int, ...], Blocks]:
    cars = _listed(path)
    if not cars:
        raise DataFormatError(
            f"{path}: expected a member {_LIST} with the names of the cars, got none. "
            "This is not the published file: get it again."
        )
    shape = (_N_ELEVATIONS * _N_AZIMUTHS * len(cars), size, size, 3)
    return shape, _blocks(path, cars, size)


def _listed(path: Path) -> dict[str, int]:
    """Names of the members that hold a car, each with its place in the list."""
    for _, data in _members(path, {_LIST}):
        cars = dict.fromkeys(data.decode(errors="replace").split())
        return {f"data/cars/{car}.mat": place for place, car in enumerate(cars)}
    return {}


def _blocks(path: Path, cars: dict[str, int], size: int) -> Blocks:
    missing = set(cars)
    for name, data in _members(path, missing):
        for view, image in enumerate(_views(f"{path}, {name}", data)):
            small = squared(Image.fromarray(image), size)
            yield view * len(cars) + cars[name], small[None]
        missing.remove(name)
        if not missing:
            return
    raise DataFormatError(
        f"{path}: expected every car of {_LIST}, got no {min(missing)}. "
        "This is not the published file: get it again."
    )


def _views(where: str, data: bytes) -> NDArray[np.uint8]:
    """Images of one car, ``(n, height, width, 3)``, the azimuth changing fastest."""
    import scipy.io  # slow to import, and needed for this dataset only

    try:
        views = scipy.io.loadmat(io.BytesIO(data), variable_names=["im"])["im"]
    except (scipy.io.matlab.MatReadError, *_BAD_MAT) as error:
        raise DataFormatError(
            f"{where}: expected a MATLAB 5 file with an array 'im', got something else "
            f"({error}). This is not the published file: get it again."
        ) from error
    expected = (None, None, 3, _N_AZIMUTHS, _N_ELEVATIONS)
    require_layout(f"{where}, im", views.shape, views.dtype, expected)
    by_direction = views.transpose(4, 3, 0, 1, 2)
    return by_direction.reshape(-1, *by_direction.shape[2:])


def _members(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Name and content of the wanted members; nothing is ever unpacked."""
    try:
        with tarfile.open(path, "r|gz") as archive:
            for member in archive:
                place = PurePosixPath(member.name)
                if place.is_absolute() or ".." in place.parts:
                    raise DataFormatError(
                        f"{path}: expected members inside the archive's own folder, "
                        f"got {member.name!r}. Do not trust this file: delete it."
                    )
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None and str(place) in wanted:
                    if member.size > _MOST_BYTES:
                        raise DataFormatError(
                            f"{path}: the member {member.name} has "
                            f"{format_bytes(member.size)}, the most is "
                            f"{format_bytes(_MOST_BYTES)}. This is not the published "
                            "file: get it again."
                        )
                    yield str(place), file.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise DataFormatError(
            f"{path}: expected a complete .tar.gz file, got one that cannot be read "
            f"({error}). If it is damaged, delete it and get it again."
        ) from error
