"""Text from which a dataset can be opened again, in any folder."""

import dataclasses
import os
from pathlib import Path
from typing import Any

from unbraid.foundation import expand_user

from ._catalog import DATASETS, is_path
from ._data_spec import DataSpec
from ._dataset import AbstractDataset
from .own._image_folder import ImageFolder

_PATH_OPTIONS = ("factors", "picture", "root", "cache")
_PLAIN = (bool, int, float, str)


def describe_source(data: Any) -> str:
    """Return the text from which data can be opened again, with whole paths.

    Args:
        data: Text or path as on the command line, a :class:`DataSpec`, or a dataset.

    Returns:
        Text for :func:`open_dataset`; empty if there is none, as for arrays.

    Example:
        >>> from unbraid.data import XYSquares
        >>> describe_source(XYSquares(spacing=4, n_squares=1))
        'xy_squares:spacing=4,n_squares=1'
    """
    if isinstance(data, str | os.PathLike):
        data = DataSpec.parse(os.fspath(data))
    if isinstance(data, AbstractDataset):
        data = _find_spec(data)
    if not isinstance(data, DataSpec):
        return ""
    options = {
        key: _make_absolute(value) if key in _PATH_OPTIONS else value
        for key, value in data.options.items()
    }
    name = _make_absolute(data.name) if is_path(data.name) else data.name
    return str(DataSpec(name=name, options=options, views=data.views))


def _make_absolute(path: str) -> str:
    whole = expand_user(path)
    return str(whole.resolve()) if whole.exists() else path


def _find_spec(dataset: AbstractDataset) -> DataSpec | None:
    """Return name and options of a dataset that is defined by its fields."""
    names = {kind: name for name, kind in DATASETS.built_in.items()}
    is_folder = isinstance(dataset, ImageFolder)
    name = str(dataset.path) if is_folder else names.get(type(dataset), "")
    if not name or not dataclasses.is_dataclass(dataset):
        return None
    options: dict[str, Any] = {}
    for field in dataclasses.fields(dataset):
        value = getattr(dataset, field.name)
        if value == field.default or (is_folder and field.name == "path"):
            continue
        value = str(value) if isinstance(value, Path) else value
        parts = value if isinstance(value, tuple | list) else (value,)
        if not all(isinstance(part, _PLAIN) for part in parts):
            return None
        options[field.name] = list(value) if isinstance(value, tuple) else value
    return DataSpec(name=name, options=options)
