"""JSON files that say what they are: each has a kind and the number of its format."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic

from ._errors import CheckpointFormatError, NewerFormatError
from ._files import atomic_write

FORMAT = 1
"""Newest format that this version reads and writes."""


def parse_record(path: Path, text: str | None, *, kind: str) -> dict[str, Any]:
    """Plain data of a file of ours, after checking its kind and format."""
    try:
        words = json.loads(text) if text else {}
    except (RecursionError, TypeError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: expected JSON, got text that is damaged or cut off ({error})."
        ) from error
    if not isinstance(words, dict) or words.get("kind") != kind:
        found = words.get("kind") if isinstance(words, dict) else None
        is_named = isinstance(found, str) and found
        raise CheckpointFormatError(
            f"{path}: expected a {kind} that unbraid wrote, got "
            f"{f'a {found:.80}' if is_named else 'a file of something else'}."
        )
    found = words.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise CheckpointFormatError(
            f"{path}: expected the number of a format, got {found!r:.80}."
        )
    if found > FORMAT:
        raise NewerFormatError(
            f"{path}: expected format {FORMAT} or older, got {found}. Update unbraid "
            "to read it."
        )
    return words


def read_json(path: Path, *, kind: str) -> dict[str, Any]:
    """A JSON file of ours, after checking its kind and format."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointFormatError(
            f"{path}: expected JSON, got a file that is not text."
        ) from error
    return parse_record(path, text, kind=kind)


def read_checked_json(
    path: Path, *, kind: str, shape: type[pydantic.BaseModel] | None = None
) -> dict[str, Any]:
    """Return the content of a JSON file of ours; empty if there is no such file.

    Args:
        path: The file.
        kind: Kind that the file must name.
        shape: Names and types of its parts.

    Raises:
        CheckpointFormatError: If the file is damaged or of another kind.
    """
    if not path.is_file():
        return {}
    record = read_json(path, kind=kind)
    try:
        if shape is not None:
            shape.model_validate(record, strict=True)
    except pydantic.ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise CheckpointFormatError(
            f"{path}: the file is damaged: {where} is not what a {kind} holds "
            f"({first['msg'].lower()}). `unbraid study run` writes it again."
        ) from error
    return record


def is_our_json(path: Path, *, kind: str) -> bool:
    """Whether a file is JSON of this kind that unbraid wrote, in any version."""
    try:
        return path.is_file() and bool(read_json(path, kind=kind))
    except NewerFormatError:
        return True
    except CheckpointFormatError:
        return False


def write_json(path: Path, words: Mapping[str, Any], *, kind: str) -> None:
    """Write plain data for :func:`read_json`."""
    about = {"format": FORMAT, "kind": kind, **words}
    text = json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as file:
        # Bytes of file names that are not UTF-8 become escapes, which JSON has too.
        file.write(text.encode(errors="backslashreplace") + b"\n")
