"""DataSpec: a dataset by its name or path and its options, as plain data."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pydantic

from unbraid.foundation import expand_user, naming, suggest

from ._array_files import open_npy
from ._catalogue import DATASETS, find_dataset, is_path
from ._dataset import AbstractDataset
from ._options import check_options, list_options, split_items, write_options
from ._view_spec import ViewSpec, split_views
from .own._image_folder import ImageFolder
from .own._labelled_images import LabelledImages
from .own._vectors import Vectors

_VECTOR_OPTIONS = ("factors", "factor_names", "name")


class DataSpec(pydantic.BaseModel):
    """A dataset by its name or path and its options.

    On the command line and in files it is a text, ``name:option=value,option=value``,
    with values in YAML, lists in brackets, and nested datasets in quotes. Views follow
    after a plus, ``name:option=value+view:option=value``. A study file may also have a
    mapping with ``name``, ``options`` and ``views``.

    Attributes:
        name: Name of a dataset (see ``unbraid data list``), whether or not there is a
            folder of this name (write ``./name`` for that); or the path of a folder of
            pictures; or the path of a .npy, .npz or .h5 file with an array called
            ``images`` (or one array). A .npy file of two axes holds vectors.
        options: Arguments of the dataset's constructor. Text is read by the type of
            the option, so that ``1e-3`` is a number and ``true`` a truth value.
        views: Views of the dataset, applied in turn: wrong or missing labels,
            correlated factors, combinations left out. See :class:`ViewSpec`.

    Example:
        >>> DataSpec.parse("xy_squares:spacing=4,n_squares=1").open()
        XYSquares(square_size=8, image_size=64, spacing=4, grid_size=None,
        n_squares=1, rgb=True)
        >>> str(DataSpec(name="xy_squares", options={"spacing": 4, "rgb": False}))
        'xy_squares:spacing=4,rgb=false'
        >>> DataSpec.parse("xy_squares+labels:n=100").open().name
        'xy_squares_relabelled'
    """

    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    name: str = pydantic.Field(min_length=1)
    options: dict[str, Any] = {}
    views: tuple[ViewSpec, ...] = ()
    _text: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a text; whether there is such a dataset is found out by opening it.

        Args:
            text: Name or path, with options after a colon and views after a plus.

        Raises:
            ValueError: If the text is empty, there is no such view, or an option has
                no value or comes twice.
        """
        base, views = _split_views(text)
        name, _, rest = base.partition(":")
        if not name:
            find_dataset(text)
        if rest and is_path(base):  # a path may have a colon in it
            name, rest = base, ""
        options: dict[str, Any] = {}
        for item in split_items(rest):
            key, equals, value = (part.strip() for part in item.partition("="))
            if not equals and name not in DATASETS and not is_path(name):
                name, options = base, {}  # the path of something that is gone
                break
            if not equals:
                known = list_options(find_dataset(name))
                raise ValueError(
                    f"{name}: expected options like name=value among "
                    f"{', '.join(known)}, got {item!r}.{suggest(key, known)}"
                )
            if key in options:
                raise ValueError(f"{name}: expected {key} once, got it twice.")
            options[key] = value
        parsed = tuple(map(ViewSpec.parse, views))
        spec = cls(name=name, options=options, views=parsed)
        spec._text = text
        return spec

    def resolve(self) -> tuple[type[AbstractDataset], dict[str, Any]]:
        """Return the class of the dataset, and its options as values of their types.

        Raises:
            ValueError: If the name or an option is unknown or has a wrong value;
                suggests the nearest one.
        """
        kind = find_dataset(self.name)
        return kind, check_options(kind, self.options, self.name, open_dataset)

    def open(self) -> AbstractDataset:
        """Open the dataset.

        Raises:
            ValueError: If the name or an option is unknown or has a wrong value;
                suggests the nearest one.
            DatasetNotFoundError: If a published file is missing.
        """
        with naming(self.name):
            kind, options = self.resolve()
            try:
                dataset = _open(self.name, kind, options)
            except TypeError as error:  # values of a wrong kind: here they are text
                raise ValueError(str(error)) from error
            for view in self.views:
                dataset = view.apply(dataset)
            return dataset

    def __str__(self) -> str:
        """Return the text that gives this again: as it was written, if it was."""
        base = write_options(self.name, self.options)
        return self._text or "+".join([base, *map(str, self.views)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataSpec) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    @pydantic.model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, read: pydantic.ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(value, str):
            return cls.parse(value)
        if not isinstance(value, Mapping | DataSpec):
            raise ValueError(f"expected a name, a path or a mapping, got {value!r}.")
        return read(value)

    @pydantic.model_serializer
    def _write(self) -> str:
        return str(self)


def open_dataset(data: str | DataSpec) -> AbstractDataset:
    """Open the dataset that a user names.

    Args:
        data: Text or :class:`DataSpec`.

    Raises:
        ValueError: If the name or an option is unknown or has a wrong value; suggests
            the nearest one.
        DatasetNotFoundError: If a published file is missing.

    Example:
        >>> open_dataset("xy_squares:spacing=4,n_squares=1").image_shape
        (3, 64, 64)
    """
    if isinstance(data, DataSpec):
        return data.open()
    with naming(str(data).partition(":")[0]):
        return DataSpec.parse(data).open()


def _split_views(text: str) -> tuple[str, list[str]]:
    """Split a text as :func:`split_views` does, but leave existing paths whole."""
    if is_path(text):
        return text, []
    name = text.partition(":")[0]
    start = len(name) if "+" in name and is_path(name) else 0
    base, views = split_views(text[start:])
    base = text[:start] + base
    name, _, view = base.partition(":")[0].partition("+")
    if name in DATASETS and view:
        ViewSpec.parse(view)  # says that there is no such view
    return base, views


def _open(
    name: str, dataset: type[AbstractDataset], options: dict[str, Any]
) -> AbstractDataset:
    if dataset is ImageFolder:
        return ImageFolder(name, **options)
    if dataset is LabelledImages:
        stem = re.sub(r"[^a-z0-9]+", "_", Path(name).stem.lower()).strip("_")
        options = {"name": stem or "images", **options}
        path = expand_user(name)
        # Opened here, because its number of axes tells images from vectors.
        images = open_npy(path) if path.suffix.lower() == ".npy" else name
        if isinstance(images, np.ndarray) and images.ndim == 2:
            for option in options:
                if option not in _VECTOR_OPTIONS:
                    raise ValueError(
                        f"{name}: expected options of vectors among "
                        f"{', '.join(_VECTOR_OPTIONS)}, got {option!r}."
                    )
            return Vectors(images, **options)
        return LabelledImages(images, **options)
    return dataset(**options)
