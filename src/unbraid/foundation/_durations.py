"""Durations as text: formatting and parsing."""

import math
import re

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def format_duration(seconds: float) -> str:
    """Format a duration for people.

    Example:
        >>> format_duration(40), format_duration(600), format_duration(9000)
        ('40 s', '10 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def parse_duration(text: str | float) -> float:
    """Return the seconds of a duration such as 90s, 10m, 1h30m or a bare number.

    Example:
        >>> parse_duration("10m"), parse_duration("1h30m"), parse_duration(45)
        (600.0, 5400.0, 45.0)
    """
    clean = str(text).replace(" ", "").lower()
    is_known = re.fullmatch(r"(\d+(\.\d+)?[smhd])+|\d+(\.\d+)?", clean)
    parts = re.findall(r"(\d+(?:\.\d+)?)([smhd]?)", clean) if is_known else []
    seconds = float(sum(float(number) * _UNITS[unit or "s"] for number, unit in parts))
    if not 0 < seconds < math.inf:
        raise ValueError(
            f"{str(text)!r} is not a duration. Write it as 90s, 10m, 1.5h or 1h30m."
        )
    return seconds
