"""Datasets of the user's own data: folders of pictures, arrays and vectors."""

from ._frames import open_first_frame
from ._picture import SUFFIXES as PICTURE_SUFFIXES
from ._picture_listing import list_pictures
from ._video import VIDEO_SUFFIXES

__all__ = [
    "PICTURE_SUFFIXES",
    "VIDEO_SUFFIXES",
    "list_pictures",
    "open_first_frame",
]
