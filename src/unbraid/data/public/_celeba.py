"""CelebA: faces of celebrities with forty attributes."""

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
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

_PAGE = "https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html"


@dataclass(frozen=True, kw_only=True)
class CelebA(AbstractPublishedDataset):
    """202,599 photographs of faces, in color, with 40 yes-or-no attributes.

    Factors: the attributes, such as ``Smiling``, 0 for no and 1 for yes, in the order
    of the published list; not a grid. The center square of each aligned photograph (178
    x 218) is resized once (2.5 GB at 64 x 64) and memory-mapped.

    The files are on Google Drive, which does not allow automatic downloads: download
    them by hand. The unpacked folder ``img_align_celeba`` may be used instead of the
    archive.

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Not possible for this dataset; raises an error with instructions.
        image_size: Side of the images in pixels.

    Example:
        >>> [file.name for file in CelebA.files]
        ['img_align_celeba.zip', 'list_attr_celeba.txt']

    References:
        Liu, Luo, Wang and Tang (2015), Deep Learning Face Attributes in the Wild.
        https://mmlab.ie.cuhk.edu.hk/projects/CelebA.html For research only.
    """

    image_size: int = 64

    short_name: ClassVar[str] = "celeba"
    files: ClassVar[tuple[RemoteFile, ...]] = (
        RemoteFile(
            name="img_align_celeba.zip",
            page=_PAGE,
            size=1_443_490_838,
            checksum="sha256:"
            "46fb89443c578308acf364d7d379fe1b9efb793042c0af734b6112e4fd3a8c74",
            alternatives=("img_align_celeba",),
        ),
        RemoteFile(
            name="list_attr_celeba.txt",
            page=_PAGE,
            size=26_721_026,
            checksum="sha256:"
            "f0e5da289d5ccf75ffe8811132694922b60f2af59256ed362afa03fefba324d0",
        ),
    )

    def __post_init__(self) -> None:
        check_integer("image_size", self.image_size, least=1)
        super().__post_init__()

    def __len__(self) -> int:
        return len(self._content.pixels)

    def _open(self, *paths: Path) -> Content:
        photographs, attributes = paths
        space, files, labels = _attributes(attributes)
        size = self.image_size
        pixels = convert_once(
            paths,
            resized_label(size),
            lambda: ((len(files), size, size, 3), _blocks(photographs, files, size)),
        )
        return Content(pixels, space, labels)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64]:
        labels = self._content.labels
        assert labels is not None
        return labels[indices].astype(np.int64)


def _attributes(path: Path) -> tuple[FactorSpace, Sequence[str], NDArray[np.bool_]]:
    """Return the factor space, the files of the photographs, and their attributes."""
    import pandas as pd  # slow to import, and needed for this dataset only

    try:
        with path.open(encoding="utf-8") as file:
            count, names = int(file.readline()), tuple(file.readline().split())
        space = FactorSpace(names, (2,) * len(names), ("categorical",) * len(names))
        table = pd.read_csv(path, sep=r"\s+", skiprows=2, header=None, index_col=0)
    except ValueError as error:
        raise DataFormatError(_not_attributes(path, str(error))) from error
    values = table.to_numpy()
    if values.shape != (count, len(names)) or values.size == 0:
        reason = f"{count} photographs and {len(names)} attributes, then {values.shape}"
        raise DataFormatError(_not_attributes(path, reason))
    if not ((values == 1) | (values == -1)).all():
        raise DataFormatError(_not_attributes(path, "values other than -1 and 1"))
    return space, [str(file) for file in table.index], values == 1


def _not_attributes(path: Path, reason: str) -> str:
    return (
        f"{path} must contain a line with the number of photographs, a line with the "
        "names of the attributes, and a line for each photograph with its name and -1 "
        f"or 1 for each attribute, got something else ({reason}). Download it again."
    )


def _blocks(path: Path, files: Sequence[str], size: int) -> Blocks:
    with _photographs(path) as read:
        for row, name in enumerate(files):
            try:
                with Image.open(io.BytesIO(read(name))) as picture:
                    image = resize_square(picture.convert("RGB"), size)
            except (KeyError, FileNotFoundError):
                raise DataFormatError(
                    f"{path} does not contain the photograph {name}, which is in the "
                    "list of attributes. Download it again."
                ) from None
            except (OSError, Image.DecompressionBombError) as error:
                raise DataFormatError(
                    f"{path}: {name} cannot be read as a photograph ({error}). "
                    "Download the file again."
                ) from error
            yield row, image[None]


@contextlib.contextmanager
def _photographs(path: Path) -> Iterator[Callable[[str], bytes]]:
    """Return a function from the name of a photograph to its bytes."""
    if path.is_dir():
        # Only the last part of the name, so that it cannot be outside of the folder.
        yield lambda name: (path / Path(name).name).read_bytes()
        return
    with open_zip(path) as archive:
        yield lambda name: read_member(path, archive, f"img_align_celeba/{name}")
