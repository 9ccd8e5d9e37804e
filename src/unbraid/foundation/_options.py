"""Options written as text, ``name:option=value,option=value``, and their types."""

import json
import typing
from collections.abc import Iterable, Mapping, Sequence

import pydantic

from ._sections import suggest
from ._yaml import read_yaml


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


def parse_options(name: str, text: str) -> dict[str, str]:
    """Return options by name from ``option=value,option=value``, values as text.

    Args:
        name: Name of the object with these options, for error messages.
        text: The text.

    Raises:
        ValueError: If an option has no value or is given twice.

    Example:
        >>> parse_options("noise", "p=0.1, factors=[a,b]")
        {'p': '0.1', 'factors': '[a,b]'}
    """
    options: dict[str, str] = {}
    for item in split_items(text):
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise ValueError(
                f"{name}: options must be written as name=value, got {item!r}."
            )
        if key in options:
            raise ValueError(f"{name}: option {key} is given twice.")
        options[key] = value
    return options


def require_option(name: str, option: str, known: Iterable[str]) -> None:
    """Raise an error that suggests the nearest option if there is no such option."""
    known = list(known)
    if option not in known:
        listed = f"Options are {', '.join(known)}." if known else "It has no options."
        raise ValueError(
            f"{name} has no option {option!r}.{suggest(option, known)} {listed}"
        )


def read_option(
    name: str, option: str, value: typing.Any, hint: typing.Any
) -> typing.Any:
    """Convert the value of an option to its type.

    Args:
        name: Name of the object with this option, for error messages.
        option: Name of the option.
        value: Value of that type, or a string in YAML.
        hint: Type of the option.

    Raises:
        ValueError: If the value is not of that type.

    Example:
        >>> read_option("mig", "bins", "1e1", int)
        10
    """
    try:
        return _convert(value, hint)
    except Exception as error:  # the parsers raise errors of any kind
        raise ValueError(
            f"{name}: {option} must be {_describe(hint)}, got {value!r}."
        ) from error


def write_options(name: str, options: Mapping[str, typing.Any]) -> str:
    """Return the string ``name:option=value,option=value``."""
    parts = [f"{key}={_write_value(value)}" for key, value in options.items()]
    return ":".join(filter(None, (name, ",".join(parts))))


def _write_value(value: typing.Any) -> str:
    if isinstance(value, pydantic.BaseModel):
        return json.dumps(str(value))
    if isinstance(value, str) and split_items(value) == [value]:
        return value
    return json.dumps(value)


def _convert(value: typing.Any, hint: typing.Any) -> typing.Any:
    kinds = typing.get_args(hint) or (hint,)
    plain = read_yaml(value, "option") if isinstance(value, str) else value
    if plain is None and type(None) in kinds:
        return None
    if str in kinds and (isinstance(plain, str) or type(plain) not in kinds):
        # For paths and names: a folder called 12 is not a number.
        return plain if isinstance(plain, str) else str(value)
    # Strict, so that true is not a number; from JSON, so that a list may be a tuple.
    return pydantic.TypeAdapter(hint).validate_json(
        json.dumps(_with_whole_numbers(plain)), strict=True
    )


def _with_whole_numbers(value: typing.Any) -> typing.Any:
    """Convert floats without fraction to integers, so that 1e3 may be a count."""
    if isinstance(value, list | tuple):
        return [_with_whole_numbers(part) for part in value]
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value


def _describe(hint: typing.Any) -> str:
    """Describe the values that a type accepts."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, parts))
    if origin in (tuple, list, Sequence):
        return "a list such as [a, b]"
    if parts:
        kinds = [_describe(part) for part in parts if part is not type(None)]
        return " or ".join(dict.fromkeys(kinds))
    names = {int: "an integer", float: "a number", bool: "true or false"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))
