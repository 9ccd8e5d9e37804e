"""Options of a dataset, checked against the types of its constructor."""

import inspect
import json
import typing
from collections.abc import Callable, Mapping

import pydantic

from unbraid.foundation import read_yaml, suggest

from ._dataset import AbstractDataset

# What stands before the colon is the path of own data, so it is not an option.
_PATHS = ("path", "images")


def list_options(dataset: type[AbstractDataset]) -> list[str]:
    """Return the names of all options of a dataset."""
    return [key for key in inspect.signature(dataset).parameters if key not in _PATHS]


def check_options(
    dataset: type[AbstractDataset],
    options: Mapping[str, typing.Any],
    name: str,
    open_dataset: Callable[[typing.Any], AbstractDataset],
) -> dict[str, typing.Any]:
    """Return options as values of their types.

    Args:
        dataset: Class of the dataset.
        options: Values by name, each of its type or as text in YAML.
        name: Name of the dataset, for errors.
        open_dataset: Function that opens the value of an option that is a dataset.

    Raises:
        ValueError: If an option is unknown or has a wrong value.
    """
    hints, known = typing.get_type_hints(dataset.__init__), list_options(dataset)
    checked = {}
    for key, value in options.items():
        if key not in known:
            raise ValueError(
                f"{name}: expected options like name=value among {', '.join(known)}, "
                f"got {key!r}.{suggest(key, known)}"
            )
        hint = hints.get(key, object)
        try:
            checked[key] = _read_value(value, hint)
        except Exception as error:  # broken text leads the parsers to any of them
            raise ValueError(
                f"{name}: expected {key} to be {_describe(hint)}, got {value!r}."
            ) from error
        if AbstractDataset in (typing.get_args(hint) or (hint,)):
            if checked[key] in ("", None):
                raise ValueError(
                    f"{name}: expected {key} to be a dataset, got {value!r}."
                )
            checked[key] = open_dataset(checked[key])
    return checked


def _read_value(value: typing.Any, hint: typing.Any) -> typing.Any:
    kinds = typing.get_args(hint) or (hint,)
    plain = read_yaml(value, "option") if isinstance(value, str) else value
    if plain is None and type(None) in kinds:
        return None
    if AbstractDataset in kinds:
        return plain
    if str in kinds:
        # Paths and names: a folder called 12 is not a number.
        return plain if isinstance(plain, str) else str(value)
    # Strict, so that true is no number; by way of JSON, so that a list may stand for a
    # tuple.
    return pydantic.TypeAdapter(hint).validate_json(
        json.dumps(_with_whole_numbers(plain)), strict=True
    )


def _with_whole_numbers(value: typing.Any) -> typing.Any:
    """Plain data in which whole numbers are integers, so that 1e3 may be a count."""
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _describe(hint: typing.Any) -> str:
    """What a type accepts, in words."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, parts))
    if origin is tuple:
        return "a list such as [a, b]"
    if parts:
        kinds = [_describe(part) for part in parts if part is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    words = {int: "a whole number", float: "a number", bool: "true or false"}
    return words.get(hint, getattr(hint, "__name__", str(hint)))
