"""Frames of video files, read with PyAV (``pip install 'unbraid[video]'``)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PIL import Image

from unbraid.foundation import import_extra

VIDEO_SUFFIXES = (".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm")


def require_video_reader() -> Any:
    """Return the module that reads videos.

    Raises:
        ImportError: If it is not installed; the message says how to install it.
    """
    return import_extra("av", "video", feature="videos")


def read_video(path: Path) -> Iterator[Image.Image]:
    """Yield the frames of a video as upright color pictures, from first to last.

    Args:
        path: Path of the file; its first video stream is read.

    Raises:
        OSError: If the file has no frames, or frames that cannot be decoded.
    """
    av = require_video_reader()
    n_frames = 0
    # Only the file itself: a playlist must not lead to other files or addresses.
    options = {"protocol_whitelist": "file"}
    with av.open(str(path), container_options=options) as container:
        if not container.streams.video:
            raise OSError("there is no video in it")
        for frame in container.decode(video=0):
            n_frames += 1
            # The angle by which a player turns the frame, counterclockwise.
            yield frame.to_image().rotate(frame.rotation, expand=True)
    if not n_frames:
        raise OSError("there are no frames in it")
