"""Section: settings that users write into files, checked key by key."""

import difflib
from typing import Annotated, Any, Self

import pydantic

Whole = Annotated[int, pydantic.Field(ge=1)]


class Section(pydantic.BaseModel):
    """Base class of settings in files; unknown keys are errors."""

    model_config = pydantic.ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_default=True
    )

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Read settings from plain data.

        Args:
            data: Plain data, as read from YAML or JSON.
            where: Name of the source, for messages.

        Raises:
            ValueError: If a key is unknown or missing, or a value is wrong. For a
                misspelled key, the message suggests the nearest one.
        """
        try:
            return cls.model_validate(data)
        except pydantic.ValidationError as error:
            raise ValueError(f"{where}: {_describe(error, cls)}") from error


def suggest(name: str, known: Any) -> str:
    """Return a hint at the known name that was probably meant; empty if none is near.

    Example:
        >>> suggest("stpes", ["steps", "seed"])
        " Did you mean 'steps'?"
    """
    near = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _describe(error: pydantic.ValidationError, kind: type[pydantic.BaseModel]) -> str:
    """Return one sentence about the first error."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    key = ".".join(path)
    if first["type"] == "extra_forbidden":
        for part in path[:-1]:
            found = kind.model_fields[part].annotation
            kind = next(
                (
                    option
                    for option in (found, *getattr(found, "__args__", ()))
                    if isinstance(option, type) and issubclass(option, Section)
                ),
                kind,
            )
        known = list(kind.model_fields)
        return (
            f"unknown key {key!r}.{suggest(path[-1], known)} Known keys are "
            f"{', '.join(known)}."
        )
    if first["type"] == "missing":
        return f"the key {key!r} is missing."
    if first["type"] == "value_error":
        message = str(first.get("ctx", {}).get("error"))
        return message if path[-1:] and path[-1] in message else f"{key}: {message}"
    reason = first["msg"].removeprefix("Input should be ").rstrip(".")
    if not key:
        return f"settings must be keys with values, got {first['input']!r}."
    return f"{key} must be {reason}, got {first['input']!r}."
