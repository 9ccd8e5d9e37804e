"""How many of something a caller may ask for."""

from typing import Any


def check_size(who: str, name: str, value: Any, *, least: int = 1) -> None:
    """Refuse a count that is not a whole number from ``least``."""
    try:
        is_whole = not isinstance(value, bool) and value == int(value)
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole or value < least:
        raise ValueError(
            f"{who}: expected {name} to be a whole number from {least}, got {value!r}."
        )
