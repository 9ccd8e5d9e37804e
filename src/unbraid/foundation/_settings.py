"""Converting records to plain data, as in JSON and YAML files, and back."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._sections import suggest

Table = Mapping[str, type]
"""Classes of records by the name under which they are written."""

OMIT_DEFAULT = {"omit_default": True}
"""Metadata of a field that is not written while it has its default.

For fields that were added later: records without them keep their hashes. The default of
such a field must never change.
"""


def to_plain(value: Any, table: Table) -> Any:
    """Convert a record to numbers, strings, lists and dictionaries.

    Args:
        value: A dataclass whose class is in the table, with plain values or such
            records in its fields; or a plain value. A network is written as the name
            of its class.
        table: Classes of all records that may occur, by name.

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
                    field.name: getattr(value, field.name)
                    for field in dataclasses.fields(value)
                }
                written = {
                    key: to_plain(part, table)
                    for key, part in parts.items()
                    if (key, part) not in omitted_defaults(kind).items()
                }
                return {"name": name, **written}
        raise ValueError(
            f"{type(value).__name__} cannot be written, because it is not one of "
            "unbraid's own."
        )
    if isinstance(value, tuple | list):
        return [to_plain(part, table) for part in value]
    if hasattr(value, "state_dict"):
        # A network of the user's: its weights are not settings.
        return type(value).__name__
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ValueError(f"{type(value).__name__} is not plain data and cannot be written.")


def omitted_defaults(kind: type) -> dict[str, Any]:
    """Return the defaults that :func:`to_plain` leaves out, by name of the field.

    Args:
        kind: Class of a record.

    Example:
        >>> @dataclasses.dataclass
        ... class Point:
        ...     x: float
        ...     unit: str = dataclasses.field(default="m", metadata=OMIT_DEFAULT)
        >>> to_plain(Point(1.0), {"point": Point}), omitted_defaults(Point)
        ({'name': 'point', 'x': 1.0}, {'unit': 'm'})
    """
    return {
        field.name: field.default
        for field in dataclasses.fields(kind)
        if field.metadata.get("omit_default")
    }


def from_plain(data: Any, table: Table) -> Any:
    """Return the record that plain data describe; the inverse of :func:`to_plain`.

    Args:
        data: A name, or a dictionary with a ``"name"`` and options; lists become
            tuples, and everything else is kept.
        table: Classes of all records that may occur, by name.
    """
    if isinstance(data, Mapping):
        if "name" not in data:
            raise ValueError(
                f"settings have no 'name', only {', '.join(map(str, data))}."
            )
        options = {
            key: from_plain(part, table) for key, part in data.items() if key != "name"
        }
        return make_record(data["name"], options, table)
    if isinstance(data, list):
        return tuple(from_plain(part, table) for part in data)
    return data


def make_record(name: str, options: Mapping[str, Any], table: Table) -> Any:
    """Make a record from its name and options; errors suggest what was meant."""
    if not isinstance(name, str) or name not in table:
        hint = suggest(name, table)
        if isinstance(name, str) and ".py" in name:
            hint = " To use a file of your own, write FILE.py:CLASS."
        raise ValueError(f"name must be one of {', '.join(table)}, got {name!r}.{hint}")
    kind = table[name]
    fields = [field for field in dataclasses.fields(kind) if field.init]
    known = [field.name for field in fields]
    for option in options:
        if option not in known:
            raise ValueError(
                f"{name} has no option {option!r}.{suggest(option, known)} Its options "
                f"are {', '.join(known) or 'none'}."
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
            f"{name} needs {' and '.join(missing)}, which have no default."
        )
    return kind(**options)
