"""DataSpec: a dataset by its name or path and its options, as plain data."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import pydantic

from unbraid.foundation import (
    expand_user,
    naming,
    split_items,
    suggest,
    write_options,
)

from ._array_files import open_npy
from ._catalog import DATASETS, find_dataset, is_path
from ._dataset import AbstractDataset
from ._options import check_options, list_options
from ._view_spec import ViewSpec, split_views
from .own._image_folder import ImageFolder
from .own._labeled_images import LabeledImages
from .own._vectors import Vectors

_VECTOR_OPTIONS = ("factors", "factor_names", "name")


class DataSpec(pydantic.BaseModel):
    """A dataset by its name or path and its options.

    On the command line and in files it is a string, ``name:option=value,option=value``,
    with values in YAML, lists in brackets, and nested datasets in quotes. Views follow
    after a plus, ``name:option=value+view:option=value``. A study file may also contain
    a mapping with ``name``, ``options`` and ``views``.

    Attributes:
        name: Name of a dataset (see ``unbraid data list``), even if there is a folder
            of this name (write ``./name`` for that); or the path of a folder of
            pictures; or the path of a .npy, .npz or .h5 file with an array called
            ``images`` (or a single array). A .npy file with two axes contains vectors.
        options: Arguments of the dataset's constructor. Strings are converted to the
            type of the option, so that ``1e-3`` is a number and ``true`` a boolean.
        views: Views of the dataset, applied in order: wrong or missing labels,
            correlated factors, excluded combinations. See :class:`ViewSpec`.

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
        """Parse a string, without checking whether such a dataset exists.

        Args:
            text: Name or path, with options after a colon and views after a plus.

        Raises:
            ValueError: If the string is empty, there is no such view, or an option has
                no value or is given twice.
        """
        base, views = _split_views(text)
        name, _, rest = base.partition(":")
        if not name:
            find_dataset(text)
        if rest and is_path(base):  # a path may contain a colon
            name, rest = base, ""
        options: dict[str, Any] = {}
        for item in split_items(rest):
            key, equals, value = (part.strip() for part in item.partition("="))
            if not equals and name not in DATASETS and not is_path(name):
                name, options = base, {}  # a path that no longer exists
                break
            if not equals:
                known = list_options(find_dataset(name))
                raise ValueError(
                    f"{name}: options must be written as name=value, got {item!r}."
                    f"{suggest(key, known)} Options are {', '.join(known)}."
                )
            if key in options:
                raise ValueError(f"{name}: option {key} is given twice.")
            options[key] = value
        parsed = tuple(map(ViewSpec.parse, views))
        spec = cls(name=name, options=options, views=parsed)
        spec._text = text
        return spec

    def resolve(self) -> tuple[type[AbstractDataset], dict[str, Any]]:
        """Return the class of the dataset, and its options converted to their types.

        Raises:
            ValueError: If the name or an option is unknown or has a wrong value;
                suggests the closest one.
        """
        kind = find_dataset(self.name)
        return kind, check_options(kind, self.options, self.name, open_dataset)

    def open(self) -> AbstractDataset:
        """Open the dataset.

        Raises:
            ValueError: If the name or an option is unknown or has a wrong value;
                suggests the closest one.
            DatasetNotFoundError: If a published file is missing.
        """
        with naming(self.name):
            kind, options = self.resolve()
            try:
                dataset = _open(self.name, kind, options)
            except TypeError as error:  # wrong types are wrong values of strings
                raise ValueError(str(error)) from error
            for view in self.views:
                dataset = view.apply(dataset)
            return dataset

    def __str__(self) -> str:
        """Return a string that can be parsed again, the original one if any."""
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
            raise ValueError(f"data must be a name, path or mapping, got {value!r}.")
        return read(value)

    @pydantic.model_serializer
    def _write(self) -> str:
        return str(self)


def open_dataset(data: str | DataSpec) -> AbstractDataset:
    """Open a dataset by its name or path.

    Args:
        data: Name or path, with options and views, or a :class:`DataSpec`.

    Raises:
        ValueError: If the name or an option is unknown or has a wrong value; suggests
            the closest one.
        DatasetNotFoundError: If a published file is missing.

    Example:
        >>> open_dataset("xy_squares:spacing=4,n_squares=1").image_shape
        (3, 64, 64)
    """
    if isinstance(data, DataSpec):
        return data.open()
    with naming(str(data).partition(":")[0]):
        return DataSpec.parse(data).open()


_VIEW = re.compile(r"\+([a-z_]+):[a-z_]+=", re.IGNORECASE)
"""What looks like a view after the options of a dataset."""


def _split_views(text: str) -> tuple[str, list[str]]:
    """Split a string as :func:`split_views` does, but do not split existing paths."""
    if is_path(text):
        return text, []
    name = text.partition(":")[0]
    start = len(name) if "+" in name and is_path(name) else 0
    base, views = split_views(text[start:])
    base = text[:start] + base
    name, _, view = base.partition(":")[0].partition("+")
    if name in DATASETS:
        for unknown in [view] if view else _VIEW.findall(base):
            ViewSpec.parse(unknown)  # raises if there is no such view
    return base, views


def _open(
    name: str, dataset: type[AbstractDataset], options: dict[str, Any]
) -> AbstractDataset:
    if dataset is ImageFolder:
        return ImageFolder(name, **options)
    if dataset is LabeledImages:
        stem = re.sub(r"[^a-z0-9]+", "_", Path(name).stem.lower()).strip("_")
        options = {"name": stem or "images", **options}
        path = expand_user(name)
        # Opened here, because its number of axes tells images from vectors.
        images = open_npy(path) if path.suffix.lower() == ".npy" else name
        if isinstance(images, np.ndarray) and images.ndim == 2:
            for option in options:
                if option not in _VECTOR_OPTIONS:
                    raise ValueError(
                        f"{name}: vectors have no option {option!r}. Options are "
                        f"{', '.join(_VECTOR_OPTIONS)}."
                    )
            return Vectors(images, **options)
        return LabeledImages(images, **options)
    return dataset(**options)
