"""Records as plain data, and back: what is written to JSON and read from a file."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._sections import suggest

Table = Mapping[str, type]
"""Name under which each kind of record is written."""

OMIT_NONE = {"omit_none": True}
"""Metadata of a field that is not written while it is ``None``.

For fields that were added later: records without them keep their hashes.
"""


def to_plain(value: Any, table: Table) -> Any:
    """A record as numbers, strings, lists and dictionaries.

    Args:
        value: A dataclass whose kind is in the table, with plain values or such
            records in its fields; or a plain value. Of a network, the name of its
            class is kept.
        table: Names of all kinds of records that may occur.

    Example:
        >>> @dataclasses.dataclass
        ... class Point:
        ...     x: float
        >>> to_plain(Point(1.0), {"point": Point})
        {'name': 'point', 'x': 1.0}
    """
    if dataclasses.is_dataclass(value):
        for name, kind in table.items():
            if type(value) is kind:
                parts = {
                    field.name: to_plain(getattr(value, field.name), table)
                    for field in dataclasses.fields(value)
                    if not (
                        field.metadata.get("omit_none")
                        and getattr(value, field.name) is None
                    )
                }
                return {"name": name, **parts}
        raise ValueError(
            f"to_plain: expected a record with a name, got {type(value).__name__}, "
            "which is not one of unbraid's own."
        )
    if isinstance(value, tuple | list):
        return [to_plain(part, table) for part in value]
    if hasattr(value, "state_dict"):
        # A network that the user gave: its weights are no settings.
        return type(value).__name__
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"to_plain: expected plain data, got {type(value).__name__}.")


def from_plain(data: Any, table: Table) -> Any:
    """The record that :func:`to_plain` wrote, or that a person did.

    Args:
        data: A name, or a dictionary with a ``"name"`` and options; lists become
            tuples, and everything else is kept.
        table: Names of all kinds of records.
    """
    if isinstance(data, Mapping):
        if "name" not in data:
            raise ValueError(
                f"settings: expected a 'name' among {', '.join(map(str, data))}."
            )
        options = {
            key: from_plain(part, table) for key, part in data.items() if key != "name"
        }
        return make_record(data["name"], options, table)
    if isinstance(data, list):
        return tuple(from_plain(part, table) for part in data)
    return data


def make_record(name: str, options: Mapping[str, Any], table: Table) -> Any:
    """A record by its name and options, with errors that suggest what was meant."""
    if not isinstance(name, str) or name not in table:
        raise ValueError(
            f"settings: expected one of {', '.join(table)}, got {name!r}."
            + suggest(name, table)
        )
    kind = table[name]
    fields = [field for field in dataclasses.fields(kind) if field.init]
    known = [field.name for field in fields]
    for option in options:
        if option not in known:
            raise ValueError(
                f"{name}: expected options among {', '.join(known) or 'none'}, got "
                f"{option!r}." + suggest(option, known)
            )
    missing = [
        field.name
        for field in fields
        if field.name not in options
        and field.default is dataclasses.MISSING
        and field.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ValueError(
            f"{name}: expected {' and '.join(missing)}, got neither a value nor a "
            "default."
        )
    return kind(**options)
