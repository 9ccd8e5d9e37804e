"""Decoding of picture files, several at once."""

import os
import warnings
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from unbraid.data._progress import progress_bar

from ._frames import has_frames, is_video, name_frame, open_first_frame, read_frames
from ._picture import Framing, describe_fault, frame_picture, read_picture
from ._picture_listing import Stamp

_AT_ONCE = 512

Decoded = NDArray[np.uint8] | str
"""Pixels of an image, or the reason why it cannot be read."""


@dataclass(frozen=True)
class PictureFiles:
    """Files to decode, and how.

    Attributes:
        path: Path of a folder, or of a single file.
        stamps: Its pictures.
        framing: Conversion of a picture to an image.
        frame_step: 1 for all frames of animations and videos, 2 for every other one,
            and so on; 0 for the first one only.
    """

    path: Path
    stamps: tuple[Stamp, ...]
    framing: Framing
    frame_step: int

    @property
    def root(self) -> Path:
        """Folder to which names are relative."""
        return self.path.parent if self.path.is_file() else self.path


def decode_all(
    files: PictureFiles, names: list[str]
) -> Generator[tuple[str, Decoded], None, None]:
    """Yield the name of each image with its pixels or the reason of its failure."""
    decode = partial(_decode, files)
    workers = min(8, (os.cpu_count() or 1) + 1)
    with (
        warnings.catch_warnings(),
        ThreadPoolExecutor(workers) as pool,
        progress_bar(len(names), "reading pictures", unit="pictures") as bar,
    ):
        # Set here and not in the threads, because warning filters are global.
        warnings.simplefilter("error", Image.DecompressionBombWarning)
        for start in range(0, len(names), _AT_ONCE):
            some = names[start : start + _AT_ONCE]
            for name, decoded in zip(some, pool.map(decode, some), strict=True):
                if decoded is None:
                    yield from _decode_frames(files, name)
                else:
                    yield name, decoded
            bar.update(len(some))


def _decode(files: PictureFiles, name: str) -> Decoded | None:
    """Return the pixels of a file; ``None`` if each of its frames is an image."""
    path = files.root / name
    try:
        if files.frame_step and has_frames(path):
            return None
        if is_video(path):
            return frame_picture(open_first_frame(path), files.framing)
        return read_picture(path, files.framing)
    except MemoryError:
        raise  # the picture may be fine
    except Exception as error:  # Pillow raises errors of any kind for broken files
        return describe_fault(error)


def _decode_frames(files: PictureFiles, name: str) -> Iterator[tuple[str, Decoded]]:
    """Yield frames up to the end or to the first that cannot be read."""
    index, step = -files.frame_step, files.frame_step
    try:
        for index, pixels in read_frames(files.root / name, files.framing, step):
            yield name_frame(name, index), pixels
    except MemoryError:
        raise
    except Exception as error:
        broken = name if index < 0 else name_frame(name, index + step)
        yield broken, describe_fault(error)
