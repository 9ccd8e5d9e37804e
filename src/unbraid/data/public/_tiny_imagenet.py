"""Tiny ImageNet: small natural pictures."""

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace
from unbraid.data._memory_map import Blocks, convert_once
from unbraid.foundation import DataFormatError, check_integer

from ._published import AbstractPublishedDataset, Content
from ._resize import resize_square, resized_label
from ._zip import open_zip, read_member

_MEMBER = re.compile(r"tiny-imagenet-200/train/(n\d+)/images/[^/]+\.JPEG")


@dataclass(frozen=True, kw_only=True)
class TinyImageNet(AbstractPublishedDataset):
    """100,000 training pictures of 200 categories: 64 x 64, in color.

    Factor: ``category``, in the order of the WordNet numbers; not a grid. The pictures
    are decoded once (1.2 GB at 64 x 64) and memory-mapped.

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the archive if it is missing (248 MB).
        image_size: Side of the images in pixels.

    Example:
        >>> TinyImageNet.files[0].name
        'tiny-imagenet-200.zip'

    References:
        Le and Yang (2015), Tiny ImageNet Visual Recognition Challenge, Stanford CS231n.
        For research only.
    """

    image_size: int = 64

    short_name: ClassVar[str] = "tiny_imagenet"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            name="tiny-imagenet-200.zip",
            page="https://cs231n.stanford.edu",
            size=248_100_043,
            checksum="md5:90528d7ca1a48142e341f4ef8d21d0de",
            urls=(
                "https://cs231n.stanford.edu/tiny-imagenet-200.zip",
                "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
            ),
        ),
    )

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=1)
        super().__post_init__()

    def __len__(self) -> int:
        return len(self._content.pixels)

    def _open(self, *paths: Path) -> Content:
        (path,) = paths
        with open_zip(path) as archive:
            members = sorted(filter(_MEMBER.fullmatch, archive.namelist()))
        if not members:
            raise DataFormatError(
                f"{path} contains no pictures tiny-imagenet-200/train/*/images/*.JPEG. "
                "This is not the published file: download it again."
            )
        names = [member.split("/")[2] for member in members]
        categories, labels = np.unique(names, return_inverse=True)
        size = self.image_size
        pixels = convert_once(
            paths,
            resized_label(size),
            lambda: ((len(members), size, size, 3), _blocks(path, members, size)),
        )
        space = FactorSpace(("category",), (len(categories),), ("categorical",))
        return Content(pixels, space, labels[:, None].astype(np.int64))

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        labels = self._content.labels
        assert labels is not None
        return labels[indices].astype(np.int64)


def _blocks(path: Path, members: Sequence[str], size: int) -> Blocks:
    with open_zip(path) as archive:
        for row, member in enumerate(members):
            yield row, _picture(path, archive, member, size)[None]


def _picture(
    path: Path, archive: zipfile.ZipFile, member: str, size: int
) -> NDArray[np.uint8]:
    data = read_member(path, archive, member)
    try:
        with Image.open(io.BytesIO(data)) as picture:
            return resize_square(picture.convert("RGB"), size)
    except (OSError, Image.DecompressionBombError) as error:
        raise DataFormatError(
            f"{path}: {member} cannot be read as a picture ({error}). Download the "
            "file again."
        ) from error
