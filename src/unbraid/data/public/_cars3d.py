"""Cars3D: cars from many directions."""

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
from unbraid.data._memory_map import Blocks, convert_once, require_layout
from unbraid.foundation import DataFormatError, check_integer, format_bytes

from ._published import AbstractPublishedDataset, Content
from ._resize import resize_square, resized_label

_N_ELEVATIONS, _N_AZIMUTHS = 4, 24
_LIST = "data/cars/list.txt"
_MOST_BYTES = 100_000_000
"""Largest size of a member of the archive."""

# Errors that scipy raises for damaged or other files, found by experiment.
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
    the published list. The images of 128 x 128 pixels are converted to 64 x 64, as is
    customary, once (216 MB).

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the file if it is missing.
        image_size: Side of the images in pixels.

    Example:
        >>> Cars3D.files[0].name
        'nips2015-analogy-data.tar.gz'

    References:
        Reed, Zhang, Zhang and Lee (2015), Deep Visual Analogy-Making.
        https://papers.nips.cc/paper/5845-deep-visual-analogy-making
        Differs from disentanglement_lib, where the order of the cars is the arbitrary
        order of a folder.
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
        check_integer("image_size", self.image_size, least=1)
        super().__post_init__()

    def _open(self, *paths: Path) -> Content:
        (path,) = paths
        pixels = convert_once(
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
            f"{path} must contain a member {_LIST} with the names of the cars. "
            "This is not the published file: download it again."
        )
    shape = (_N_ELEVATIONS * _N_AZIMUTHS * len(cars), size, size, 3)
    return shape, _blocks(path, cars, size)


def _listed(path: Path) -> dict[str, int]:
    """Return the names of the members of cars, each with its index in the list."""
    for _, data in _members(path, {_LIST}):
        cars = dict.fromkeys(data.decode(errors="replace").split())
        return {f"data/cars/{car}.mat": index for index, car in enumerate(cars)}
    return {}


def _blocks(path: Path, cars: dict[str, int], size: int) -> Blocks:
    missing = set(cars)
    for name, data in _members(path, missing):
        for view, image in enumerate(_views(f"{path}, {name}", data)):
            small = resize_square(Image.fromarray(image), size)
            yield view * len(cars) + cars[name], small[None]
        missing.remove(name)
        if not missing:
            return
    raise DataFormatError(
        f"{path} must contain every car of {_LIST}, but {min(missing)} is missing. "
        "This is not the published file: download it again."
    )


def _views(where: str, data: bytes) -> NDArray[np.uint8]:
    """Return images of a car, ``(n, height, width, 3)``; azimuth varies fastest."""
    import scipy.io  # slow to import, and needed for this dataset only

    try:
        views = scipy.io.loadmat(io.BytesIO(data), variable_names=["im"])["im"]
    except (scipy.io.matlab.MatReadError, *_BAD_MAT) as error:
        raise DataFormatError(
            f"{where} must be a MATLAB 5 file with an array 'im' ({error}). This is "
            "not the published file: download it again."
        ) from error
    expected = (None, None, 3, _N_AZIMUTHS, _N_ELEVATIONS)
    require_layout(f"{where}, im", views.shape, views.dtype, expected)
    by_direction = views.transpose(4, 3, 0, 1, 2)
    return by_direction.reshape(-1, *by_direction.shape[2:])


def _members(path: Path, wanted: Container[str]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the wanted members; nothing is unpacked to the disk."""
    try:
        with tarfile.open(path, "r|gz") as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                if name.is_absolute() or ".." in name.parts:
                    raise DataFormatError(
                        f"{path} has a member outside of its own folder, "
                        f"{member.name!r}. Do not trust this file: delete it."
                    )
                file = archive.extractfile(member) if member.isreg() else None
                if file is not None and str(name) in wanted:
                    if member.size > _MOST_BYTES:
                        raise DataFormatError(
                            f"{path}: the member {member.name} has "
                            f"{format_bytes(member.size)}, more than "
                            f"{format_bytes(_MOST_BYTES)}. This is not the published "
                            "file: download it again."
                        )
                    yield str(name), file.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise DataFormatError(
            f"{path} cannot be read as a .tar.gz file ({error}). If it is damaged, "
            "delete it and download it again."
        ) from error
