"""Whether a setting is a number of the kind that is needed."""

import math
import sys
from typing import Any

_LARGEST = sys.float_info.max


def is_number(
    value: Any,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    most: float = math.inf,
) -> bool:
    """Whether a value is a finite number in a range, and no truth value.

    Example:
        >>> is_number(0.5, above=0.0), is_number("a"), is_number(True)
        (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST and above < value and least <= value <= most


def is_whole(value: Any, *, least: float = 1) -> bool:
    """Whether a value is a whole number, and no truth value.

    Example:
        >>> is_whole(3), is_whole(3.0), is_whole(0), is_whole(True)
        (True, False, False, False)
    """
    return isinstance(value, int) and is_number(value, least=least)


def are_whole(values: Any, *, least: float = 1) -> bool:
    """Whether a value is a list or tuple of whole numbers.

    Example:
        >>> are_whole((3, 1)), are_whole(3), are_whole("31")
        (True, False, False)
    """
    return isinstance(values, list | tuple) and all(
        is_whole(value, least=least) for value in values
    )
