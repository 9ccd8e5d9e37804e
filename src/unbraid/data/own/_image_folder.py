"""ImageFolder: any folder of pictures as a dataset."""

import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import DataFormatError, expand_user

from ._content import hash_content, hash_pixels
from ._factor_table import FactorTable
from ._picture import Crop, Framing
from ._picture_cache import CachedPictures, cached_pictures, default_cache, describe
from ._picture_listing import list_pictures


@dataclass(frozen=True, eq=False)
class ImageFolder(AbstractDataset):
    """All pictures in a folder and its sub-folders, made the same size.

    Files are taken in the order of their names; hidden files and whatever is not a
    picture (by its suffix) are passed over. Pictures are turned upright as their EXIF
    data say, scaled with anti-aliasing, and 16-bit gray is scaled to 8 bits; of an
    animation the first frame counts. They are decoded once and kept as one memory map
    outside the folder; added, removed or changed pictures are noticed the next time.

    Args:
        path: The folder.
        image_size: Side of the image in pixels, or ``(height, width)``.
        channels: 3 for color, 1 for gray.
        crop: ``"centre"`` scales the picture until it covers the image and cuts off
            what is over, ``"pad"`` scales it until it fits and fills the rest with
            ``background``, ``"stretch"`` ignores its proportions.
        background: Gray level, 0 (black) to 255 (white), behind transparent pixels.
        on_error: What to do with broken pictures: ``"raise"`` names them in an error,
            ``"skip"`` goes on without them (see :attr:`skipped`).
        label_folders: Take the name of the first sub-folder of each picture as its
            label, a categorical factor called ``folder``.
        cache: Folder for the memory map; when not given, the environment variable
            ``UNBRAID_CACHE`` or the user's cache folder.

    Raises:
        FileNotFoundError: If there is no such folder, or no picture in it.
        DataFormatError: If pictures are broken.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from PIL import Image
        >>> with TemporaryDirectory() as folder:
        ...     Image.new("RGB", (40, 30), "red").save(f"{folder}/red.png")
        ...     pictures = ImageFolder(folder, image_size=16, cache=f"{folder}/cache")
        ...     pictures.images([0])[0, :, 0, 0], pictures.paths
        (array([255,   0,   0], dtype=uint8), ('red.png',))
    """

    path: str | Path
    _: KW_ONLY
    image_size: int | tuple[int, int] = 64
    channels: Literal[1, 3] = 3
    crop: Crop = "centre"
    background: int = 255
    on_error: Literal["raise", "skip"] = "raise"
    label_folders: bool = False
    cache: str | Path | None = None

    def __post_init__(self) -> None:
        if self.on_error not in ("raise", "skip"):
            raise ValueError(
                "ImageFolder: expected on_error to be 'raise' or 'skip', got "
                f"{self.on_error!r}."
            )
        if self.skipped and self.on_error == "raise":
            raise DataFormatError(
                "ImageFolder: expected pictures that can be read, got "
                f"{describe(self.skipped)} in {str(self.path)!r}. Mend or remove them, "
                "or pass on_error='skip'."
            )
        outside = [path for path in self.paths if "/" not in path]
        if outside and self.label_folders:
            raise ValueError(
                "ImageFolder: expected every picture in a sub-folder, got "
                f"{outside[0]!r}. Move it into one, or pass label_folders=False."
            )

    # Not fields, so that the record of options stays one of options.
    @cached_property
    def _pictures(self) -> CachedPictures:
        framing = self.framing
        root = _checked_folder(Path(self.path))
        cache = default_cache() if self.cache is None else Path(self.cache)
        return cached_pictures(root, list_pictures(root), framing, expand_user(cache))

    @cached_property
    def _labels(self) -> FactorTable | None:
        if not self.label_folders:
            return None
        folders, codes = np.unique(
            [path.split("/")[0] for path in self.paths], return_inverse=True
        )
        return FactorTable(
            names=("folder",),
            kinds=("categorical",),
            values=(tuple(folders.tolist()),),
            rows=codes.astype(np.int64)[:, None],
            space=FactorSpace(("folder",), (len(folders),), ("categorical",)),
        )

    @cached_property
    def framing(self) -> Framing:
        """Size, channels, crop and background, which a trained model keeps."""
        size = self.image_size
        sides = tuple(size) if isinstance(size, Sequence) else (size, size)
        fits = all(_is_integer(side, 1) and side <= LARGEST_IMAGE for side in sides)
        if len(sides) != 2 or not fits:
            raise ValueError(
                "ImageFolder: expected image_size to be a number of pixels from 1 to "
                f"{LARGEST_IMAGE} or a pair (height, width) of such, got {size!r}."
            )
        if self.channels not in (1, 3):
            raise ValueError(
                f"ImageFolder: expected 1 or 3 channels, got {self.channels!r}."
            )
        if self.crop not in get_args(Crop):
            raise ValueError(
                f"ImageFolder: expected crop to be one of {get_args(Crop)}, got "
                f"{self.crop!r}."
            )
        if not _is_integer(self.background, 0) or self.background > 255:
            raise ValueError(
                "ImageFolder: expected a background from 0 (black) to 255 (white), got "
                f"{self.background!r}."
            )
        return Framing(
            height=int(sides[0]),
            width=int(sides[1]),
            channels=1 if self.channels == 1 else 3,
            crop=self.crop,
            background=int(self.background),
        )

    @property
    def name(self) -> str:
        """Name of the folder, in lower-case letters, digits and underscores."""
        folder = expand_user(self.path).resolve().name
        return re.sub(r"[^a-z0-9]+", "_", folder.lower()).strip("_") or "image_folder"

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height and width of every image."""
        _, height, width, channels = self._pictures.pixels.shape
        return channels, height, width

    @property
    def paths(self) -> tuple[str, ...]:
        """File of each image, relative to the folder, with forward slashes."""
        return self._pictures.paths

    @property
    def skipped(self) -> dict[str, str]:
        """Files that were passed over because they are broken, each with the reason."""
        return dict(self._pictures.skipped)

    @property
    def factor_space(self) -> FactorSpace | None:
        """The sub-folders if ``label_folders``, else ``None``."""
        return self._labels.space if self._labels else None

    @property
    def factor_values(self) -> tuple[tuple[object, ...], ...]:
        """Names of the sub-folders in the order of their codes, if labels are asked."""
        return self._labels.values if self._labels else ()

    @property
    def is_grid(self) -> bool:
        """Whether there is one picture per sub-folder, and labels are asked."""
        return self._labels is not None and self._labels.is_grid

    def __len__(self) -> int:
        return len(self._pictures.paths)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self._pictures.pixels[indices].transpose(0, 3, 1, 2)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64] | None:
        return self._labels.rows[indices] if self._labels else None

    def verify_cache(self) -> None:
        """Check that the decoded pictures on disk are what was written.

        Raises:
            DataFormatError: If they are not; the message says which file to delete.
        """
        if hash_pixels(self._pictures.pixels) != self._pictures.pixel_hash:
            raise DataFormatError(
                f"ImageFolder: expected the decoded pictures in "
                f"{str(self._pictures.path)!r} as they were written, got others. "
                "Delete this file: it will be made again."
            )

    def fingerprint(self) -> str:
        """Hash of every pixel and label: one changed pixel changes it."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return hash_content(self, self._pictures.pixel_hash, self.factor_values)


def _is_integer(value: Any, least: int) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        return False
    return int(value) >= least


def _checked_folder(path: Path) -> Path:
    root = expand_user(path).resolve()
    if not root.exists():
        raise FileNotFoundError(
            f"ImageFolder: expected a folder of pictures, got {str(path)!r}, which "
            "does not exist."
        )
    if not root.is_dir():
        raise NotADirectoryError(
            f"ImageFolder: expected a folder of pictures, got the file {str(path)!r}. "
            "Pass the folder that it is in; for arrays there is LabeledImages."
        )
    return root
