"""Frames of animations and videos, each of which counts as a picture."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from ._picture import Framing, frame_picture, open_picture
from ._video import VIDEO_SUFFIXES, read_video

_ANIMATED_SUFFIXES = (".gif", ".tif", ".tiff", ".webp")
# A phone's JPEG may have a second image, which is not a frame but a map of depths.
_ANIMATED_FORMATS = ("GIF", "TIFF", "WEBP")

_FRAME_NAME = re.compile(r"(?P<file>.*\.\w+)#(?P<index>\d+)", re.DOTALL)


def is_video(path: Path) -> bool:
    """Return whether a file has the suffix of a video."""
    return path.suffix.lower() in VIDEO_SUFFIXES


def name_frame(file: str, index: int) -> str:
    """Return the name of a frame, such as ``clip.gif#12``."""
    return f"{file}#{index}"


def split_frame_name(name: str) -> tuple[str, int | None]:
    """Return the file of a picture and the index of its frame, ``None`` for a still.

    Example:
        >>> split_frame_name("clip.gif#12"), split_frame_name("no#1.png")
        (('clip.gif', 12), ('no#1.png', None))
    """
    match = _FRAME_NAME.fullmatch(name)
    return (match["file"], int(match["index"])) if match else (name, None)


def has_frames(path: Path) -> bool:
    """Return whether a file is a video or has more than one frame."""
    if is_video(path):
        return True
    if path.suffix.lower() not in _ANIMATED_SUFFIXES:
        return False
    with open_picture(path) as picture:
        is_animation = picture.format in _ANIMATED_FORMATS
        return is_animation and getattr(picture, "n_frames", 1) > 1


def read_frames(
    path: Path, framing: Framing, step: int
) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """Yield indices and pixels of the frames of an animation or video.

    Args:
        path: Path of the file.
        framing: Conversion to images.
        step: 1 for all frames, 2 for every other one, and so on.
    """
    for index, picture in enumerate(_pictures(path)):
        if index % step == 0:
            yield index, frame_picture(picture, framing)


def open_first_frame(path: Path) -> Image.Image:
    """Open a picture, animation or video; the pixels of a picture are not read yet."""
    return next(read_video(path)) if is_video(path) else open_picture(path)


def _pictures(path: Path) -> Iterator[Image.Image]:
    if is_video(path):
        yield from read_video(path)
        return
    with open_picture(path) as picture:
        for index in range(getattr(picture, "n_frames", 1)):
            picture.seek(index)
            # A copy, because the next frame may be painted over this one.
            yield ImageOps.exif_transpose(picture)
