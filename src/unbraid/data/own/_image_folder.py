"""ImageFolder: a folder of pictures as a dataset."""

import re
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unbraid.data._dataset import LARGEST_IMAGE, AbstractDataset
from unbraid.data._factor_space import FactorSpace
from unbraid.foundation import (
    DataFormatError,
    check_count,
    check_integer,
    check_option,
    check_sequence,
    expand_user,
)

from ._content import hash_content, hash_pixels
from ._factor_table import FactorTable
from ._picture import SUFFIXES, Crop, Framing
from ._picture_cache import (
    CachedPictures,
    PictureFiles,
    cached_pictures,
    default_cache,
    describe,
)
from ._picture_listing import list_pictures
from ._video import VIDEO_SUFFIXES


@dataclass(frozen=True, eq=False)
class ImageFolder(AbstractDataset):
    """All pictures in a folder and its sub-folders, scaled to the same size.

    Files are sorted by name; hidden files and files without the suffix of a picture are
    ignored. Pictures are rotated according to their EXIF data, scaled with
    anti-aliasing, and 16-bit gray is scaled to 8 bits. Every frame of an animated GIF
    or WebP, every page of a TIFF and, on request, every frame of a video is a picture
    of its own, named ``clip.gif#12`` in :attr:`paths`. Pictures are decoded once and
    kept as one memory map outside the folder. When the dataset is opened again, added,
    removed or changed pictures are detected.

    Args:
        path: Path of the folder, or of a single picture, animation or video.
        image_size: Side of the images in pixels, or ``(height, width)``.
        channels: 3 for color, 1 for gray.
        crop: ``"centre"`` scales a picture until it covers the image and crops the
            rest, ``"pad"`` scales it until it fits into the image and fills the rest
            with ``background``, ``"stretch"`` ignores its proportions.
        background: Gray level behind transparent pixels, between 0 (black) and 255
            (white).
        on_error: Treatment of broken pictures: ``"raise"`` lists them in an error,
            ``"skip"`` ignores them (see :attr:`skipped`).
        frames: Frames of an animation or video to use: ``"all"``, or the ``"first"``.
        frame_step: Distance between two frames that are used: 1 uses all of them, 10
            every tenth.
        videos: Whether to use the videos of a folder as well, which needs ``pip install
            'unbraid[video]'``. A video that is named itself is always used.
        label_folders: Whether the name of the first sub-folder of each picture is its
            label, a categorical factor called ``folder``.
        cache: Folder for the memory map. Default: the environment variable
            ``UNBRAID_CACHE``, or the user's cache folder.

    Raises:
        FileNotFoundError: If there is no such folder, or no picture in it.
        DataFormatError: If pictures are broken.
        ImportError: If videos are to be used and their reader is not installed.

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
    frames: Literal["all", "first"] = "all"
    frame_step: int = 1
    videos: bool = False
    label_folders: bool = False
    cache: str | Path | None = None

    def __post_init__(self) -> None:
        check_option("on_error", self.on_error, ("raise", "skip"))
        if self.skipped and self.on_error == "raise":
            raise DataFormatError(
                f"Pictures in {str(self.path)!r} cannot be read: "
                f"{describe(self.skipped)}. Repair or remove them, or pass "
                "on_error='skip'."
            )
        outside = [path for path in self.paths if "/" not in path]
        if outside and self.label_folders:
            raise ValueError(
                "With label_folders=True, every picture must be in a sub-folder, but "
                f"{outside[0]!r} is not. Move it into one, or pass "
                "label_folders=False."
            )

    # Properties, so that all fields are options.
    @cached_property
    def _pictures(self) -> CachedPictures:
        check_option("frames", self.frames, ("all", "first"))
        check_count("frame_step", self.frame_step)
        framing = self.framing
        path = _check_path(Path(self.path))
        stamps = list_pictures(path, videos=self.videos)
        step = self.frame_step if self.frames == "all" else 0
        cache = default_cache() if self.cache is None else Path(self.cache)
        return cached_pictures(
            PictureFiles(path, stamps, framing, step), expand_user(cache)
        )

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
        """Size, channels, crop and background, which are saved with a trained model."""
        size = self.image_size
        sides = tuple(size) if isinstance(size, list | tuple) else (size, size)
        check_sequence("image_size", sides, length=2)
        for side in sides:
            check_integer("image_size", side, least=1, most=LARGEST_IMAGE)
        check_option("channels", self.channels, (1, 3))
        check_option("crop", self.crop, Crop)
        check_integer("background", self.background, least=0, most=255)
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
        """File of each image, relative to the folder, with forward slashes.

        The index of a frame follows after ``#``, counted from 0.
        """
        return self._pictures.paths

    @property
    def skipped(self) -> dict[str, str]:
        """Broken files that were ignored, each with the reason."""
        return dict(self._pictures.skipped)

    @property
    def factor_space(self) -> FactorSpace | None:
        """Factor space of the sub-folders if ``label_folders``, otherwise ``None``."""
        return self._labels.space if self._labels else None

    @property
    def factor_values(self) -> tuple[tuple[object, ...], ...]:
        """Names of the sub-folders in the order of their codes, if labels are used."""
        return self._labels.values if self._labels else ()

    @property
    def is_grid(self) -> bool:
        """Whether labels are used, and there is one picture per sub-folder."""
        return self._labels is not None and self._labels.is_grid

    def __len__(self) -> int:
        return len(self._pictures.paths)

    def _gather(self, indices: NDArray[np.int64]) -> NDArray[np.uint8]:
        return self._pictures.pixels[indices].transpose(0, 3, 1, 2)

    def _gather_factors(self, indices: NDArray[np.int64]) -> NDArray[np.int64] | None:
        return self._labels.rows[indices] if self._labels else None

    def verify_cache(self) -> None:
        """Verify that the decoded pictures on disk have not been modified.

        Raises:
            DataFormatError: If they have; the message contains the file to delete.
        """
        if hash_pixels(self._pictures.pixels) != self._pictures.pixel_hash:
            raise DataFormatError(
                f"The decoded pictures in {str(self._pictures.path)!r} were modified. "
                "Delete this file: it will be created again."
            )

    def fingerprint(self) -> str:
        """Return a hash of all pixels and labels."""
        return self._fingerprint

    @cached_property
    def _fingerprint(self) -> str:
        return hash_content(self, self._pictures.pixel_hash, self.factor_values)


def _check_path(path: Path) -> Path:
    whole = expand_user(path).resolve()
    if not whole.exists():
        raise FileNotFoundError(f"There is no folder {str(path)!r}.")
    if not whole.is_dir() and whole.suffix.lower() not in (*SUFFIXES, *VIDEO_SUFFIXES):
        raise NotADirectoryError(
            f"{str(path)!r} is a file, not a folder of pictures. Pass its folder; for "
            "arrays, use LabeledImages."
        )
    return whole
