"""MPI3D: a robot arm that carries an object."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from unbraid.data._dataset import AbstractFactorDataset
from unbraid.data._download import RemoteFile
from unbraid.data._factor_space import FactorSpace
from unbraid.data._npz import npz_images, npz_shape
from unbraid.foundation import DataFormatError, check_option

from ._published import AbstractPublishedDataset, Content

MPI3DKind = Literal["toy", "realistic", "real"]

_CHECKSUMS = {
    "toy": "md5:55889cb7c7dfc655d6e0277beee88868",
    "realistic": "md5:59a6225b88b635365f70c91b3e52f70f",
    "real": "md5:0f33f609918fb5c97996692f91129802",
}
_BUCKET = "https://storage.googleapis.com/disentanglement_dataset/Final_Dataset"


@dataclass(frozen=True, kw_only=True)
class MPI3D(AbstractPublishedDataset, AbstractFactorDataset):
    """1,036,800 images of a robot arm that carries an object: 64 x 64, in color.

    Factors: object_color (6), object_shape (6), object_size (2), camera_height (3),
    background_color (3), horizontal_axis (40), vertical_axis (40). The last two are the
    angles of the arm's joints; disentanglement_lib calls them first and second degree
    of freedom. There are three versions of the same scenes. The files contain no
    labels: factors are inferred from the number of images. The file of the 2019
    challenge, with 4 colors and 4 shapes (460,800 images), can also be used, under the
    name of the full one.

    Uncompressed images are memory-mapped directly; compressed ones are converted once
    (12.7 GB).

    Args:
        root: Folder of all published data; see :class:`AbstractPublishedDataset`.
        download: Whether to download the file if it is missing (up to 13 GB).
        kind: Version of the dataset: ``"toy"`` (simple rendering), ``"realistic"``
            (realistic rendering) or ``"real"`` (photographs).

    Example:
        >>> [file.name for file in MPI3D.required_files(kind="real")]
        ['mpi3d_real.npz']

    References:
        Gondal et al. (2019), On the Transfer of Inductive Bias from Simulation to the
        Real World: a New Disentanglement Dataset. https://arxiv.org/abs/1906.03292
        https://github.com/rr-learning/disentanglement_dataset License: CC BY 4.0.
    """

    kind: MPI3DKind = "toy"

    short_name: ClassVar[str] = "mpi3d"
    files: ClassVar[tuple[RemoteFile, ...]] = tuple(
        RemoteFile(
            name=f"mpi3d_{kind}.npz",
            page="https://github.com/rr-learning/disentanglement_dataset",
            checksum=checksum,
            urls=(f"{_BUCKET}/mpi3d_{kind}.npz",),
        )
        for kind, checksum in _CHECKSUMS.items()
    )

    def __post_init__(self) -> None:
        check_option("kind", self.kind, MPI3DKind)
        super().__post_init__()

    @classmethod
    def required_files(
        cls, *, kind: MPI3DKind = "toy", **options: Any
    ) -> tuple[RemoteFile, ...]:
        """Return the file of one kind."""
        return tuple(file for file in cls.files if file.name == f"mpi3d_{kind}.npz")

    @property
    def name(self) -> str:
        """Name with the kind, for tables."""
        return f"mpi3d_{self.kind}"

    @property
    def _catalog_name(self) -> str:
        return f"mpi3d:kind={self.kind}"

    def _open(self, *paths: Path) -> Content:
        (path,) = paths
        full, challenge = _space(6), _space(4)
        n_images = math.prod(npz_shape(path, "images")[:1])
        if n_images not in (full.size, challenge.size):
            raise DataFormatError(
                f"{path} must contain {full.size} images, or {challenge.size} in the "
                f"file of the challenge, got {n_images}. "
                "This is not the published file: download it again."
            )
        space = full if n_images == full.size else challenge
        pixels = npz_images(path, "images", shape=(n_images, None, None, 3))
        return Content(pixels, space)


def _space(n_values: int) -> FactorSpace:
    """Return the factor space with this number of colors and shapes of the object."""
    return FactorSpace(
        (
            "object_color",
            "object_shape",
            "object_size",
            "camera_height",
            "background_color",
            "horizontal_axis",
            "vertical_axis",
        ),
        (n_values, n_values, 2, 3, 3, 40, 40),
        (
            "categorical",
            "categorical",
            "ordinal",
            "ordinal",
            "categorical",
            "ordinal",
            "ordinal",
        ),
    )
