"""JSON files with their kind and format number."""

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
    """Return the content of a file of ours, after checking its kind and format."""
    try:
        record = json.loads(text) if text else {}
    except (RecursionError, TypeError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: this is not valid JSON; the file is damaged or cut off ({error})."
        ) from error
    if not isinstance(record, dict) or record.get("kind") != kind:
        found = record.get("kind") if isinstance(record, dict) else None
        is_named = isinstance(found, str) and found
        raise CheckpointFormatError(
            f"{path}: this is not a {kind} that unbraid wrote, but "
            f"{f'a {found:.80}' if is_named else 'something else'}."
        )
    found = record.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise CheckpointFormatError(
            f"{path}: the file is damaged: its format is {found!r:.80}, not a number."
        )
    if found > FORMAT:
        raise NewerFormatError(
            f"{path}: the file has format {found}, but this version of unbraid reads "
            f"formats up to {FORMAT}. Update unbraid to read it."
        )
    return record


def read_json(path: Path, *, kind: str) -> dict[str, Any]:
    """Read a JSON file of ours, after checking its kind and format."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CheckpointFormatError(
            f"{path}: this is not valid JSON; it is not text."
        ) from error
    return parse_record(path, text, kind=kind)


def read_checked_json(
    path: Path, *, kind: str, shape: type[pydantic.BaseModel] | None = None
) -> dict[str, Any]:
    """Return the content of a JSON file of ours; empty if there is no such file.

    Args:
        path: Path of the file.
        kind: Kind that the file must name.
        shape: Model of its content.

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
    """Return whether a file is JSON of this kind that any version of unbraid wrote."""
    try:
        return path.is_file() and bool(read_json(path, kind=kind))
    except NewerFormatError:
        return True
    except CheckpointFormatError:
        return False


def write_json(path: Path, content: Mapping[str, Any], *, kind: str) -> None:
    """Write plain data with its kind and format, for :func:`read_json`."""
    record = {"format": FORMAT, "kind": kind, **content}
    text = json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)
    with atomic_write(path) as file:
        # Bytes of file names that are not UTF-8 become escapes, which JSON allows.
        file.write(text.encode(errors="backslashreplace") + b"\n")
