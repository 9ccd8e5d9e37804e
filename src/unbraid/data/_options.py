"""Options of datasets and views: parsing, checking and formatting."""

import inspect
import json
import typing
from collections.abc import Callable, Mapping

import pydantic

from unbraid.foundation import read_yaml, suggest

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
        if key not in known and free is None:
            raise ValueError(
                f"{name} has no option {key!r}.{suggest(key, known)} Options are "
                f"{', '.join(known)}."
            )
        hint = hints.get(key if key in known or free is None else free, object)
        try:
            checked[key] = _read_value(value, hint)
        except Exception as error:  # the parsers raise errors of any kind
            raise ValueError(
                f"{name}: {key} must be {_describe(hint)}, got {value!r}."
            ) from error
        if open_dataset and AbstractDataset in (typing.get_args(hint) or (hint,)):
            if checked[key] in ("", None):
                raise ValueError(f"{name}: {key} must be a dataset, got {value!r}.")
            checked[key] = open_dataset(checked[key])
    return checked


def write_options(name: str, options: Mapping[str, typing.Any]) -> str:
    """Return the string ``name:option=value,option=value``."""
    parts = [f"{key}={_write_value(value)}" for key, value in options.items()]
    return ":".join(filter(None, (name, ",".join(parts))))


def split_items(text: str) -> list[str]:
    """Split a string at commas outside of brackets and quotes, without blank parts."""
    return [piece for piece in split_outside(text, ",") if piece.strip()]


def split_outside(text: str, mark: str) -> list[str]:
    """Split a string at a mark outside of brackets and quotes."""
    pieces, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        else:
            depth += (letter in "[({") - (letter in "])}")
        if letter == mark and not depth and not quote:
            pieces.append("")
        else:
            pieces[-1] += letter
    return pieces


def _write_value(value: typing.Any) -> str:
    if isinstance(value, pydantic.BaseModel):
        return json.dumps(str(value))
    if isinstance(value, str) and split_items(value) == [value]:
        return value
    return json.dumps(value)


def _read_value(value: typing.Any, hint: typing.Any) -> typing.Any:
    kinds = typing.get_args(hint) or (hint,)
    plain = read_yaml(value, "option") if isinstance(value, str) else value
    if plain is None and type(None) in kinds:
        return None
    if AbstractDataset in kinds:
        return plain
    if str in kinds:
        # For paths and names: a folder called 12 is not a number.
        return plain if isinstance(plain, str) else str(value)
    # Strict, so that true is not a number; from JSON, so that a list may be a tuple.
    return pydantic.TypeAdapter(hint).validate_json(
        json.dumps(_with_whole_numbers(plain)), strict=True
    )


def _with_whole_numbers(value: typing.Any) -> typing.Any:
    """Convert floats without fraction to integers, so that 1e3 may be a count."""
    if isinstance(value, list):
        return [_with_whole_numbers(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _describe(hint: typing.Any) -> str:
    """Describe the values that a type accepts."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, parts))
    if origin is tuple:
        return "a list such as [a, b]"
    if parts:
        kinds = [_describe(part) for part in parts if part is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    names = {int: "an integer", float: "a number", bool: "true or false"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))
