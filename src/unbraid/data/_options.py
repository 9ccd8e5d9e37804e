"""Options of datasets and views: names, types and nested datasets."""

import inspect
import typing
from collections.abc import Callable, Mapping

from unbraid.foundation import read_option, read_yaml, require_option

from ._dataset import AbstractDataset

# The path of a user's own data is before the colon, so that it is not an option.
_PATHS = ("path", "images")


def list_options(target: Callable[..., AbstractDataset]) -> list[str]:
    """Return the names of all options of a dataset's class or a view's function."""
    parameters = list(inspect.signature(target).parameters.values())
    if not isinstance(target, type):
        parameters = parameters[1:]  # a view is a function of a dataset
    return [
        parameter.name
        for parameter in parameters
        if parameter.name not in _PATHS and parameter.kind is not parameter.VAR_KEYWORD
    ]


def check_options(
    target: Callable[..., AbstractDataset],
    options: Mapping[str, typing.Any],
    name: str,
    open_dataset: Callable[[typing.Any], AbstractDataset] | None = None,
) -> dict[str, typing.Any]:
    """Convert options to their types.

    Args:
        target: Class of the dataset, or function that creates a view of one. If it
            accepts any keywords, such as names of factors, so does this function.
        options: Values by name, each of its type or a string in YAML.
        name: Name of the dataset or view, for error messages.
        open_dataset: Function that opens the value of an option that is a dataset.

    Raises:
        ValueError: If an option is unknown or has a wrong value.
    """
    function = target.__init__ if isinstance(target, type) else target
    hints, known = typing.get_type_hints(function), list_options(target)
    free = inspect.getfullargspec(function).varkw
    checked = {}
    for key, value in options.items():
        if free is None:
            require_option(name, key, known)
        hint = hints.get(key if key in known or free is None else free, object)
        if AbstractDataset in (typing.get_args(hint) or (hint,)):
            checked[key] = _read_dataset(name, key, value, open_dataset)
        else:
            checked[key] = read_option(name, key, value, hint)
    return checked


def _read_dataset(
    name: str,
    key: str,
    value: typing.Any,
    open_dataset: Callable[[typing.Any], AbstractDataset] | None,
) -> typing.Any:
    try:
        plain = read_yaml(value, "option") if isinstance(value, str) else value
    except ValueError:
        plain = None
    if open_dataset is None:
        return plain
    if plain in ("", None):
        raise ValueError(f"{name}: {key} must be a dataset, got {value!r}.")
    return open_dataset(plain)
