"""Datasets by name, and the class that reads a file or folder."""

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
from .own._image_folder import ImageFolder
from .own._labelled_images import LabelledImages
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
from .synthetic._scenes import SpriteScenes
from .synthetic._sprite_variants import (
    ColouredSprites,
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
    "coloured_sprites": ColouredSprites,
    "noisy_sprites": NoisySprites,
    "scream_sprites": ScreamSprites,
    "picture_sprites": PictureSprites,
    "room3d": Room3D,
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
"""Every dataset that has a name, with those of other packages."""


def find_dataset(name: str) -> type[AbstractDataset]:
    """Return the class of a named dataset, or the class that reads a path.

    Args:
        name: Name of the catalogue, or path of a folder of pictures or of a file of
            arrays. A name of the catalogue always means the dataset of that name.

    Raises:
        ValueError: If there is neither; suggests the nearest name.
    """
    if name in DATASETS:
        return DATASETS[name]
    path = expand_user(name)
    if not name or not is_path(name):
        raise ValueError(
            "Expected the name of a dataset, a folder of pictures or a file of arrays, "
            f"got {name!r}.{suggest(name, DATASETS)} `unbraid data list` shows the "
            "names."
        )
    if path.is_dir():
        return ImageFolder
    require_regular_file(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"Expected a file of arrays ({', '.join(SUFFIXES)}) or a folder of "
            f"pictures, got {str(path)!r}."
        )
    return LabelledImages


def is_path(text: str) -> bool:
    """Whether a text is the path of something that exists, and no catalogue name."""
    if text in DATASETS:
        return False
    if "\0" in text:
        raise ValueError(f"A path cannot contain a zero byte, got {text!r}.")
    try:
        return expand_user(text).exists()
    except OSError:  # too long for a path, for one
        return False


def hidden_path(text: str) -> str | None:
    """Path in the current folder that a name of the catalogue hides.

    A name of the catalogue always means the dataset of that name. To open a folder or
    file that is called the same, write it with its folder, such as ``./xy_squares``.

    Args:
        text: Name of a dataset, with or without options.

    Returns:
        How to write the path, or ``None`` if nothing is hidden.
    """
    name = re.split("[:+]", text, maxsplit=1)[0]
    return f"./{name}" if name in DATASETS and Path(name).exists() else None
