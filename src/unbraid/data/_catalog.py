"""Datasets by name, and the classes that read files and folders."""

import re
from pathlib import Path

from unbraid.foundation import (
    Catalog,
    class_reader,
    expand_user,
    require_regular_file,
    suggest,
)

from ._array_files import SUFFIXES
from ._dataset import AbstractDataset
from .own import PICTURE_SUFFIXES, VIDEO_SUFFIXES
from .own._image_folder import ImageFolder
from .own._labeled_images import LabeledImages
from .public._cars3d import Cars3D
from .public._celeba import CelebA
from .public._dsprites import DSprites
from .public._mpi3d import MPI3D
from .public._published import AbstractPublishedDataset
from .public._shapes3d import Shapes3D
from .public._smallnorb import SmallNORB
from .public._tiny_imagenet import TinyImageNet
from .synthetic._discs import Discs
from .synthetic._photographs import PhotographCrops
from .synthetic._room3d import Room3D
from .synthetic._rotating_objects import RotatingObjects
from .synthetic._scenes import SpriteScenes
from .synthetic._sprite_variants import (
    ColoredSprites,
    NoisySprites,
    PictureSprites,
    ScreamSprites,
)
from .synthetic._sprites2d import Sprites2D
from .synthetic._xy_object import XYObject, XYObjectShaded
from .synthetic._xy_squares import XYSquares

RENDERED: dict[str, type[AbstractDataset]] = {
    "discs": Discs,
    "xy_squares": XYSquares,
    "xy_object": XYObject,
    "xy_object_shaded": XYObjectShaded,
    "sprites2d": Sprites2D,
    "coloured_sprites": ColoredSprites,
    "noisy_sprites": NoisySprites,
    "scream_sprites": ScreamSprites,
    "picture_sprites": PictureSprites,
    "room3d": Room3D,
    "rotating_objects": RotatingObjects,
    "sprite_scenes": SpriteScenes,
    "photographs": PhotographCrops,
}
"""Datasets that need no file, by name."""

PUBLISHED: dict[str, type[AbstractPublishedDataset]] = {
    "dsprites": DSprites,
    "shapes3d": Shapes3D,
    "cars3d": Cars3D,
    "smallnorb": SmallNORB,
    "mpi3d": MPI3D,
    "celeba": CelebA,
    "tiny_imagenet": TinyImageNet,
}
"""Datasets that are read from their published files, by name."""

DATASETS: Catalog[type[AbstractDataset]] = Catalog(
    {**RENDERED, **PUBLISHED},
    group="unbraid.datasets",
    read=class_reader(AbstractDataset),
)
"""All datasets by name, including those of other packages."""


def find_dataset(name: str) -> type[AbstractDataset]:
    """Return the class of a named dataset, or the class that reads a path.

    Args:
        name: Name in the catalog, or path of a folder of pictures, of a picture or
            video, or of a file of arrays. A name in the catalog always means the
            dataset of that name.

    Raises:
        ValueError: If there is neither; suggests the closest name.
    """
    if name in DATASETS:
        return DATASETS[name]
    path = expand_user(name)
    if not name or not is_path(name):
        raise ValueError(
            f"There is no dataset, folder or file {name!r}.{suggest(name, DATASETS)} "
            "`unbraid data list` shows the names."
        )
    if path.is_dir():
        return ImageFolder
    require_regular_file(path)
    if path.suffix.lower() in (*PICTURE_SUFFIXES, *VIDEO_SUFFIXES):
        return ImageFolder
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"{str(path)!r} is not a file of arrays ({', '.join(SUFFIXES)}), a "
            "picture, a video or a folder of pictures."
        )
    return LabeledImages


def is_path(text: str) -> bool:
    """Whether a text is an existing path, and not a name in the catalog."""
    if text in DATASETS:
        return False
    if "\0" in text:
        raise ValueError(f"A path cannot contain a zero byte, got {text!r}.")
    try:
        return expand_user(text).exists()
    except OSError:  # for example, too long for a path
        return False


def hidden_path(text: str) -> str | None:
    """Return the path in the current folder that is hidden by a name in the catalog.

    A name in the catalog always means the dataset of that name. To open a folder or
    file of the same name, write it with its folder, such as ``./xy_squares``.

    Args:
        text: Name of a dataset, with or without options.

    Returns:
        The path with its folder, or ``None`` if nothing is hidden.
    """
    name = re.split("[:+]", text, maxsplit=1)[0]
    return f"./{name}" if name in DATASETS and Path(name).exists() else None
