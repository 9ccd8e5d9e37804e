"""Sections: settings that a person wrote into a file, checked key by key."""

import difflib
from typing import Annotated, Any, Self

import pydantic

Whole = Annotated[int, pydantic.Field(ge=1)]


class Section(pydantic.BaseModel):
    """Part of a file that a person wrote: unknown keys are errors."""

    model_config = pydantic.ConfigDict(
        extra="forbid", frozen=True, strict=True, validate_default=True
    )

    @classmethod
    def read(cls, data: Any, where: str) -> Self:
        """Check plain data.

        Args:
            data: As YAML or JSON gives it.
            where: It comes from, for the error.

        Raises:
            ValueError: In one sentence; a misspelt key gets the suggest known one.
        """
        try:
            return cls.model_validate(data)
        except pydantic.ValidationError as error:
            raise ValueError(f"{where}: {_in_words(error, cls)}") from error


def suggest(word: str, known: Any) -> str:
    """A hint at the known word that was probably meant; empty if none is near."""
    near = difflib.get_close_matches(word, list(known), n=1)
    return f" Did you mean {near[0]!r}?" if near else ""


def _in_words(error: pydantic.ValidationError, kind: type[pydantic.BaseModel]) -> str:
    """The first thing that is wrong, in one sentence."""
    first = error.errors()[0]
    path = [str(part) for part in first["loc"]]
    place = ".".join(path)
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
            f"expected keys among {', '.join(known)}, got {place!r}."
            f"{suggest(path[-1], known)}"
        )
    if first["type"] == "missing":
        return f"expected a value for {place!r}, got none."
    if first["type"] == "value_error":
        said = str(first.get("ctx", {}).get("error"))
        return said if path[-1:] and path[-1] in said else f"{place}: {said}"
    reason = first["msg"].removeprefix("Input should be ").rstrip(".")
    if not place:
        return f"expected keys with values, got {first['input']!r}."
    return f"expected {place} to be {reason}, got {first['input']!r}."
