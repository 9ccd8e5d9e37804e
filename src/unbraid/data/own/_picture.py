"""Conversion of a picture file to an 8-bit array of a given size."""

import os
import stat
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pydantic
from numpy.typing import NDArray
from PIL import Image, ImageOps, UnidentifiedImageError

from unbraid.foundation import Section, Whole, format_bytes

Crop = Literal["centre", "stretch", "pad"]

# Fixed lists, because those of Pillow include formats that run other programs (EPS).
SUFFIXES = (
    *(".bmp", ".gif", ".jpeg", ".jpg", ".pbm", ".pgm", ".png", ".pnm", ".ppm"),
    *(".tif", ".tiff", ".webp"),
)
_MOST_BYTES = 1_000_000_000
_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM")


class Framing(Section):
    """Conversion of pictures to images; see ``ImageFolder`` for the fields."""

    height: Whole
    width: Whole
    channels: Literal[1, 3]
    crop: Crop
    background: Annotated[int, pydantic.Field(ge=0, le=255)]


def read_picture(path: Path, framing: Framing) -> NDArray[np.uint8]:
    """Return the first frame of a picture file, ``(height, width, channels)``."""
    mode = "L" if framing.channels == 1 else "RGB"
    with open_picture(path) as picture:
        # JPEG can be decoded at 1/2, 1/4 or 1/8 of its size. The result is at least
        # twice the required size, for the better filter; the larger side is used for
        # both, because the picture may be rotated afterwards.
        enough = 2 * max(framing.height, framing.width)
        picture.draft(mode, (enough, enough))
        ImageOps.exif_transpose(picture, in_place=True)
        return frame_picture(picture, framing)


def frame_picture(picture: Image.Image, framing: Framing) -> NDArray[np.uint8]:
    """Return the pixels of an upright picture, ``(height, width, channels)``."""
    mode = "L" if framing.channels == 1 else "RGB"
    flat = _flatten(picture, mode, framing.background)
    framed = _FRAME[framing.crop](flat, framing)
    return np.asarray(framed).reshape(framing.height, framing.width, framing.channels)


def open_picture(path: Path) -> Image.Image:
    """Open a picture file and read its header, but not its pixels.

    Raises:
        Exception: Any kind, raised by Pillow for broken files; see
            :func:`describe_fault`.
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):
        # Opening a named pipe would wait forever.
        raise OSError("not a regular file")
    if status.st_size == 0:
        raise OSError("the file is empty")
    if status.st_size > _MOST_BYTES:
        raise OSError(f"larger than {format_bytes(_MOST_BYTES)}")
    return Image.open(path, formats=_FORMATS)


def describe_fault(error: Exception) -> str:
    """Describe why a picture cannot be read, given the error that was raised."""
    if isinstance(error, UnidentifiedImageError):
        return "not a picture in any known format"
    if isinstance(error, Image.DecompressionBombError | Image.DecompressionBombWarning):
        return (
            f"more than {Image.MAX_IMAGE_PIXELS} pixels; scale it down, or increase "
            "PIL.Image.MAX_IMAGE_PIXELS if you trust it"
        )
    if "MAX_TEXT" in str(error):
        return "more text than a picture should have"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


def _flatten(picture: Image.Image, mode: str, background: int) -> Image.Image:
    if picture.mode.startswith("I") or picture.mode == "F":
        return _eight_bit(picture).convert(mode)
    if picture.has_transparency_data:
        canvas = Image.new("RGBA", picture.size, (background,) * 3 + (255,))
        canvas.alpha_composite(picture.convert("RGBA"))
        picture = canvas
    return picture.convert(mode)


def _eight_bit(picture: Image.Image) -> Image.Image:
    # Pillow's conversion clips at 255 instead of scaling.
    values = np.asarray(picture)
    if values.dtype.kind == "f" or values.min() < 0 or values.max() > 65535:
        raise ValueError(
            f"pixels from {values.min()} to {values.max()} of unknown range; save it "
            "with 8 or 16 bits per channel"
        )
    return Image.fromarray(((values.astype(np.uint32) + 128) // 257).astype(np.uint8))


def _center(picture: Image.Image, framing: Framing) -> Image.Image:
    # Cropped while scaling: scaling a whole strip of 1 x 5000 pixels first would give
    # a picture of millions of pixels.
    scale = min(picture.width / framing.width, picture.height / framing.height)
    left = max(0.0, (picture.width - framing.width * scale) / 2)
    top = max(0.0, (picture.height - framing.height * scale) / 2)
    box = (left, top, picture.width - left, picture.height - top)
    return _resize(picture, (framing.width, framing.height), box)


def _stretch(picture: Image.Image, framing: Framing) -> Image.Image:
    box = (0.0, 0.0, float(picture.width), float(picture.height))
    return _resize(picture, (framing.width, framing.height), box)


def _pad(picture: Image.Image, framing: Framing) -> Image.Image:
    scale = max(picture.width / framing.width, picture.height / framing.height)
    width = max(1, round(picture.width / scale))
    height = max(1, round(picture.height / scale))
    box = (0.0, 0.0, float(picture.width), float(picture.height))
    color = framing.background if framing.channels == 1 else (framing.background,) * 3
    canvas = Image.new(picture.mode, (framing.width, framing.height), color)
    corner = ((framing.width - width) // 2, (framing.height - height) // 2)
    canvas.paste(_resize(picture, (width, height), box), corner)
    return canvas


def _resize(
    picture: Image.Image, size: tuple[int, int], box: tuple[float, float, float, float]
) -> Image.Image:
    return picture.resize(size, Image.Resampling.LANCZOS, box=box, reducing_gap=3.0)


_FRAME = {"centre": _center, "stretch": _stretch, "pad": _pad}
