"""SmallNORB: photographs of toys under many lights and angles."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace
from unbraid.data._memory_map import Blocks, convert_once
from unbraid.foundation import check_integer, check_option

from ._labels import encode_labels, require_grid
from ._norb_matrix import norb_blocks, norb_matrix
from ._published import AbstractPublishedDataset, Content
from ._resize import resize_square, resized_label

Camera = Literal["left", "right"]
Instance = Literal["factor", "hidden"]

_PAGE = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small"
_MIRRORS = (_PAGE, "https://cs.nyu.edu/~yann/data/norb-v1.0-small")
_TRAIN = "smallnorb-5x46789x9x18x6x2x96x96-training"
_TEST = "smallnorb-5x01235x9x18x6x2x96x96-testing"


def _file(name: str, size: int, sha256: str) -> RemoteFile:
    return RemoteFile(
        name=f"{name}.mat.gz",
        page=_PAGE,
        size=size,
        checksum=f"sha256:{sha256}",
        urls=tuple(f"{mirror}/{name}.mat.gz" for mirror in _MIRRORS),
        alternatives=(f"{name}.mat",),
    )


@dataclass(frozen=True, kw_only=True)
class SmallNORB(AbstractPublishedDataset, AbstractFactorDataset):
    """48,600 gray photographs of 50 toys, ten of each category.

    Factors: category (5), instance (10), elevation (9), azimuth (18), lighting (6).
    The published training and test sets contain five instances each; both together are
    the complete grid. The images of 96 x 96 pixels are converted to 64 x 64, as is
    customary, once (199 MB).

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the six files if they are missing (263 MB).
        image_size: Side of the images in pixels.
        camera: Camera of the photographs, ``"left"`` or ``"right"``.
        instance: Whether the instance is a ``"factor"``, or ``"hidden"`` as in the
            published studies: the same images with four factors, so that ten images
            share each combination.

    Example:
        >>> len(SmallNORB.files)
        6

    References:
        LeCun, Huang and Bottou (2004), Learning Methods for Generic Object Recognition
        with Invariance to Pose and Lighting.
        Locatello et al. (2019) hide the instance.
        https://cs.nyu.edu/~ylclab/data/norb-v1.0-small For research only.
    """

    image_size: int = 64
    camera: Camera = "left"
    instance: Instance = "factor"

    short_name: ClassVar[str] = "smallnorb"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        _file(
            f"{_TRAIN}-dat",
            131_896_188,
            "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873",
        ),
        _file(
            f"{_TRAIN}-cat",
            348,
            "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa",
        ),
        _file(
            f"{_TRAIN}-info",
            71_052,
            "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32",
        ),
        _file(
            f"{_TEST}-dat",
            130_799_817,
            "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474",
        ),
        _file(
            f"{_TEST}-cat",
            347,
            "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff",
        ),
        _file(
            f"{_TEST}-info",
            10_428,
            "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2",
        ),
    )

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=1)
        check_option("camera", self.camera, Camera)
        check_option("instance", self.instance, Instance)
        super().__post_init__()

    @property
    def factor_space(self) -> FactorSpace:
        """Names, sizes and kinds of the factors."""
        space, columns = self._content.space, self._columns
        return FactorSpace(
            tuple(space.names[column] for column in columns),
            tuple(space.sizes[column] for column in columns),
            tuple(space.kinds[column] for column in columns),
        )

    @property
    def is_grid(self) -> bool:
        """Whether no factor is hidden."""
        return self.instance == "factor"

    def __len__(self) -> int:
        return len(self._content.pixels)

    @property
    def _columns(self) -> list[int]:
        """Columns of all factors that are not hidden."""
        return [0, 1, 2, 3, 4] if self.instance == "factor" else [0, 2, 3, 4]

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._content.space.factors(indices)[:, self._columns]

    def _open(self, *paths: Path) -> Content:
        train, train_cat, train_info, test, test_cat, test_info = paths
        parts = _labels(train_cat, train_info), _labels(test_cat, test_info)
        values, sizes = encode_labels(train_info, np.concatenate(parts), n_factors=5)
        names = ("category", "instance", "elevation", "azimuth", "lighting")
        kinds = ("categorical", "categorical", "ordinal", "cyclic", "categorical")
        space = FactorSpace(names, sizes, kinds)
        rows = space.indices(values)
        require_grid(train_info, values[np.argsort(rows)], space)
        size, camera = self.image_size, get_args(Camera).index(self.camera)
        blocks = _blocks((train, test), np.split(rows, [len(parts[0])]), camera, size)
        pixels = convert_once(
            paths,
            f"{self.camera}-{resized_label(size)}",
            lambda: ((space.size, size, size), blocks),
        )
        return Content(pixels[..., None], space)


def _labels(cat: Path, info: Path) -> NDArray[np.generic]:
    """Return the values of the five factors, one row per pair of images."""
    categories = norb_matrix(cat, "<i4", (None,))
    others = norb_matrix(info, "<i4", (len(categories), 4))
    return np.column_stack([categories, others])


def _blocks(
    dats: tuple[Path, ...], rows: list[NDArray[np.int64]], camera: int, size: int
) -> Blocks:
    for dat, its_rows in zip(dats, rows, strict=True):
        first = 0
        for pairs in norb_blocks(dat, "|u1", (len(its_rows), 2, None, None)):
            for row, pair in zip(its_rows[first:], pairs, strict=False):
                yield int(row), resize_square(Image.fromarray(pair[camera]), size)[None]
            first += len(pairs)
