"""Datasets that the user brings: folders of pictures and arrays."""

from ._picture import open_picture
from ._picture_listing import list_pictures

__all__ = [
    "open_picture",
    "list_pictures",
]
