"""Datasets of the user's own data: folders of pictures, arrays and vectors."""

from ._picture import open_picture
from ._picture_listing import list_pictures

__all__ = [
    "open_picture",
    "list_pictures",
]
