"""Datasets by name: the one place where text becomes a dataset.

Used by the command line and by study files. ``xy_squares:spacing=8`` is a name with
options; anything else is a folder of pictures or a file of arrays.
"""

import difflib
import inspect
import json
import re
import typing
from pathlib import Path

import numpy as np
import pydantic

from unbraid.foundation import (
    Catalog,
    class_reader,
    expand_user,
    naming,
    read_yaml,
    require_regular_file,
)

from ._array_files import SUFFIXES, open_npy
from ._dataset import AbstractDataset
from .own._image_folder import ImageFolder
from .own._labelled_images import LabelledImages
from .own._vectors import Vectors
from .public._cars3d import Cars3D
from .public._celeba import CelebA
from .public._dsprites import DSprites
from .public._mpi3d import MPI3D
from .public._published import AbstractPublishedDataset
from .public._shapes3d import Shapes3D
from .public._smallnorb import SmallNORB
from .public._tiny_imagenet import TinyImageNet
from .synthetic._photographs import PhotographCrops
from .synthetic._room3d import Room3D
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
    "xy_squares": XYSquares,
    "xy_object": XYObject,
    "xy_object_shaded": XYObjectShaded,
    "sprites2d": Sprites2D,
    "coloured_sprites": ColouredSprites,
    "noisy_sprites": NoisySprites,
    "scream_sprites": ScreamSprites,
    "picture_sprites": PictureSprites,
    "room3d": Room3D,
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

_PATHS = ("path", "images")


def open_dataset(text: str) -> AbstractDataset:
    """Dataset from what a user types.

    Args:
        text: A name of the catalogue with options, ``name:option=value,option=value``
            (values in YAML, lists in brackets, nested datasets in quotes), whether or
            not there is a folder of this name (write ``./name`` for that); or the path
            of a folder of pictures, with the options of ``ImageFolder``; or the path of
            a .npy, .npz or .h5 file with an array called ``images`` (or one array).
            A .npy file of two axes holds vectors.

    Raises:
        ValueError: If the name or an option is unknown or has a wrong value; the
            message says the nearest known one.
        DatasetNotFoundError: If a published file is missing.

    Example:
        >>> open_dataset("xy_squares:spacing=4,n_squares=1")
        XYSquares(square_size=8, image_size=64, spacing=4, grid_size=None,
        n_squares=1, rgb=True)
    """
    with naming(text.partition(":")[0]):
        name, dataset, options = read_dataset_name(text)
        try:
            return _open(name, dataset, options)
        except TypeError as error:  # values of a wrong kind: here they are text
            raise ValueError(str(error)) from error


def hidden_path(text: str) -> str | None:
    """Path in the current folder that a name of the catalogue hides.

    A name of the catalogue always means the dataset of that name. To open a folder or
    file that is called the same, write it with its folder, such as ``./xy_squares``.

    Args:
        text: What :func:`open_dataset` takes.

    Returns:
        How to write the path, or ``None`` if nothing is hidden.
    """
    name = text.partition(":")[0]
    is_hidden = name in DATASETS and Path(name).exists()
    return f"./{name}" if is_hidden else None


def _open(
    name: str, dataset: type[AbstractDataset], options: dict[str, typing.Any]
) -> AbstractDataset:
    if dataset is ImageFolder:
        return ImageFolder(name, **options)
    if dataset is LabelledImages:
        stem = re.sub(r"[^a-z0-9]+", "_", Path(name).stem.lower()).strip("_")
        options = {"name": stem or "images", **options}
        vectors = _read_vectors(expand_user(name))
        if vectors is not None:
            allowed = ("factors", "factor_names", "name")
            for option in options:
                if option not in allowed:
                    raise ValueError(
                        f"{name}: expected options of vectors among "
                        f"{', '.join(allowed)}, got {option!r}."
                    )
            return Vectors(vectors, **options)
        return LabelledImages(name, **options)
    return dataset(**options)


def _read_vectors(path: Path) -> np.ndarray | None:
    """The table in a .npy file of two axes; ``None`` for anything else."""
    if path.suffix.lower() != ".npy":
        return None
    table = open_npy(path)
    return table if table.ndim == 2 else None


def read_dataset_name(
    text: str,
) -> tuple[str, type[AbstractDataset], dict[str, typing.Any]]:
    """Name or path, class and options of what a user types, without opening it."""
    name, _, options = text.partition(":")
    if name in DATASETS:
        return name, DATASETS[name], _read_options(DATASETS[name], name, options)
    _check_path(name)
    if text and _exists(expand_user(text)):
        name, options = text, ""  # a path may have a colon in it
    path = expand_user(name)
    dataset = _class_of_path(path) if name else None
    if dataset is None:
        raise ValueError(
            "Expected the name of a dataset, a folder of pictures or a file of arrays, "
            f"got {text!r}.{_nearest(name, DATASETS)} `unbraid data list` shows the "
            "names."
        )
    return name, dataset, _read_options(dataset, name, options)


def _check_path(name: str) -> None:
    """Refuse text that no file system can hold."""
    if "\0" in name:
        raise ValueError(f"A path cannot contain a zero byte, got {name!r}.")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # too long for a path, for one
        return False


def _class_of_path(path: Path) -> type[AbstractDataset] | None:
    if not _exists(path):
        return None
    if path.is_dir():
        return ImageFolder
    require_regular_file(path)
    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"Expected a file of arrays ({', '.join(SUFFIXES)}) or a folder of "
            f"pictures, got {str(path)!r}."
        )
    return LabelledImages


def _read_options(
    dataset: type[AbstractDataset], name: str, text: str
) -> dict[str, typing.Any]:
    hints = typing.get_type_hints(dataset.__init__)
    # What stands before the colon is the path of own data, so it is not an option.
    known = [key for key in inspect.signature(dataset).parameters if key not in _PATHS]
    options = {}
    for item in _split(text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals or key not in known:
            raise ValueError(
                f"{name}: expected options like name=value among {', '.join(known)}, "
                f"got {item!r}.{_nearest(key, known)}"
            )
        if key in options:
            raise ValueError(f"{name}: expected {key} once, got it twice.")
        options[key] = _read_value(name, key, value, hints.get(key, object))
    return options


def _read_value(name: str, key: str, text: str, hint: typing.Any) -> object:
    kinds = typing.get_args(hint) or (hint,)
    try:
        value = read_yaml(text, key)
        if value is None and type(None) in kinds:
            return None
        if str in kinds:
            # Paths and names: a folder called 12 is not a number.
            return value if isinstance(value, str) else text
        if AbstractDataset not in kinds:
            # Strict, so that true is no number; by way of JSON, so that a list may
            # stand for a tuple.
            return pydantic.TypeAdapter(hint).validate_json(
                json.dumps(_with_whole_numbers(value)), strict=True
            )
    except Exception as error:  # broken text leads the parsers to any of them
        raise ValueError(
            f"{name}: expected {key} to be {_wanted(hint)}, got {text!r}."
        ) from error
    if not isinstance(value, str):
        raise ValueError(f"{name}: expected {key} to be a dataset, got {text!r}.")
    return open_dataset(value)


def _with_whole_numbers(value: typing.Any) -> typing.Any:
    """Plain data in which whole numbers are integers, so that 1e3 may be a count."""
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _wanted(hint: typing.Any) -> str:
    """What a type accepts, in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, parts))
    if origin is tuple:
        return "a list such as [a, b]"
    if parts:
        kinds = [_wanted(part) for part in parts if part is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    words = {int: "a whole number", float: "a number", bool: "true or false"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def _split(text: str) -> list[str]:
    """Pieces between commas that stand outside of brackets and quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "[({") - (letter in "])}")
        if letter == "," and not depth and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return [piece for piece in pieces if piece.strip()]


def _nearest(word: str, known: typing.Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
