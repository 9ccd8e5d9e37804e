"""Checks of arguments, one function and one wording per kind of mistake.

Every ``check_*`` function takes the argument's name and value and raises ``ValueError``
with both, as in ``beta must be positive, got -1.``
"""

import math
import sys
from collections.abc import Sequence, Sized
from typing import Any, Protocol, get_args

import numpy as np

_LARGEST = sys.float_info.max


class _HasShape(Protocol):
    """An array or a tensor."""

    @property
    def shape(self) -> tuple[int, ...]: ...


def is_number(
    value: Any, *, above: float = -math.inf, least: float = -math.inf
) -> bool:
    """Return whether a value is a finite number in a range, and not a boolean.

    Example:
        >>> is_number(0.5, above=0.0), is_number("a"), is_number(True)
        (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= _LARGEST and above < value and least <= value


def is_whole(value: Any, *, least: float = 1) -> bool:
    """Return whether a value is an integer of at least a minimum, not a boolean.

    Example:
        >>> is_whole(3), is_whole(3.0), is_whole(0), is_whole(True)
        (True, False, False, False)
    """
    return isinstance(value, int) and is_number(value, least=least)


def are_whole(values: Any) -> bool:
    """Return whether a value is a list or tuple of positive integers.

    Example:
        >>> are_whole((3, 1)), are_whole(3), are_whole("31")
        (True, False, False)
    """
    return isinstance(values, list | tuple) and all(map(is_whole, values))


def check_positive(name: str, value: Any) -> None:
    """Require a finite number above 0.

    Example:
        >>> check_positive("beta", -1)
        Traceback (most recent call last):
        ValueError: beta must be positive, got -1.
    """
    check_number(name, value, above=0.0)


def check_number(
    name: str,
    value: Any,
    *,
    above: float = -math.inf,
    least: float = -math.inf,
    below: float = math.inf,
    most: float = math.inf,
) -> None:
    """Require a finite number of Python or NumPy in a range.

    Args:
        name: Name of the argument.
        value: Its value.
        above: Lower limit, itself not allowed.
        least: Smallest value allowed.
        below: Upper limit, itself not allowed.
        most: Largest value allowed.

    Example:
        >>> check_number("eta", 2.0, least=0.0, most=1.0)
        Traceback (most recent call last):
        ValueError: eta must be between 0 and 1, got 2.0.
    """
    if isinstance(value, np.number):
        value = value.item()
    if not is_number(value):
        raise ValueError(f"{name} must be a finite number, got {value!r}.")
    if not (above < value < below and least <= value <= most):
        limits = _describe_range(above, least, below, most)
        raise ValueError(f"{name} must be {limits}, got {value!r}.")


def check_integer(
    name: str, value: Any, *, least: float = -math.inf, most: float = math.inf
) -> None:
    """Require an integer of Python or NumPy in a range.

    Example:
        >>> check_integer("n_labels", 0, least=1)
        Traceback (most recent call last):
        ValueError: n_labels must be at least 1, got 0.
    """
    if isinstance(value, np.integer):
        value = value.item()
    if not is_whole(value, least=-math.inf):
        raise ValueError(f"{name} must be an integer, got {value!r}.")
    check_number(name, value, least=least, most=most)


def check_count(name: str, value: Any, *, least: int = 1) -> None:
    """Require a whole number of any type, such as 3, 3.0 or ``np.int64(3)``.

    Example:
        >>> check_count("bins", 2.5, least=2)
        Traceback (most recent call last):
        ValueError: bins must be a whole number of at least 2, got 2.5.
    """
    try:
        is_count = not isinstance(value, bool) and value == int(value) >= least
    except (TypeError, ValueError, OverflowError):
        is_count = False
    if not is_count:
        raise ValueError(
            f"{name} must be a whole number of at least {least}, got {value!r}."
        )


def check_sequence(name: str, value: Any, *, length: int | None = None) -> None:
    """Require a list or tuple, of a given length if there is one.

    Example:
        >>> check_sequence("betas", (0.5,), length=2)
        Traceback (most recent call last):
        ValueError: betas must have 2 elements, got (0.5,).
    """
    if not isinstance(value, list | tuple):
        raise ValueError(f"{name} must be a list or tuple, got {value!r}.")
    if length is not None and len(value) != length:
        raise ValueError(f"{name} must have {length} elements, got {value!r}.")


def check_integers(name: str, values: Any, *, least: float = -math.inf) -> None:
    """Require a list or tuple of integers.

    Example:
        >>> check_integers("widths", (32, 0), least=1)
        Traceback (most recent call last):
        ValueError: widths[1] must be at least 1, got 0.
    """
    check_sequence(name, values)
    for index, value in enumerate(values):
        check_integer(f"{name}[{index}]", value, least=least)


def check_option(name: str, value: Any, options: Any) -> None:
    """Require one of several options.

    Args:
        name: Name of the argument.
        value: Its value.
        options: A ``Literal`` type, or a collection of options.

    Example:
        >>> check_option("kind", "iii", ("i", "ii"))
        Traceback (most recent call last):
        ValueError: kind must be 'i' or 'ii', got 'iii'.
    """
    known = get_args(options) or tuple(options)
    if value not in known:
        *first, last = map(repr, known)
        described = f"{', '.join(first)} or {last}" if first else last
        raise ValueError(f"{name} must be {described}, got {value!r}.")


def check_shape(name: str, array: _HasShape, shape: tuple[int | str, ...]) -> None:
    """Require an array of a shape.

    Args:
        name: Name of the argument.
        array: An array or tensor.
        shape: Lengths of its axes; the name of an axis allows any length.

    Example:
        >>> check_shape("codes", np.zeros((4, 2)), ("batch", 3))
        Traceback (most recent call last):
        ValueError: codes must have shape (batch, 3), got (4, 2).
    """
    given = tuple(array.shape)
    is_same = len(given) == len(shape) and all(
        isinstance(wanted, str) or length == wanted
        for length, wanted in zip(given, shape, strict=True)
    )
    if not is_same:
        axes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
        raise ValueError(f"{name} must have shape ({axes}), got {given}.")


def check_finite(name: str, array: Any) -> None:
    """Require an array without NaN and infinity.

    Example:
        >>> check_finite("codes", np.array([[0.0, np.nan]]))
        Traceback (most recent call last):
        ValueError: codes must be finite, but codes[0, 1] is nan.
    """
    values = np.asarray(array)
    is_bad = ~np.isfinite(values)
    if is_bad.any():
        index = tuple(np.argwhere(is_bad)[0].tolist())
        element = f"[{', '.join(map(str, index))}]" if index else ""
        raise ValueError(
            f"{name} must be finite, but {name}{element} is {values[index]}."
        )


def _describe_range(above: float, least: float, below: float, most: float) -> str:
    """Describe the limits that are given."""
    if (above, below, most) == (0.0, math.inf, math.inf):
        return "positive"
    if least > -math.inf and most < math.inf:
        return f"between {least:g} and {most:g}"
    limits = (
        ("above", above),
        ("at least", least),
        ("below", below),
        ("at most", most),
    )
    return " and ".join(
        f"{text} {limit:g}" for text, limit in limits if math.isfinite(limit)
    )


def check_not_empty(name: str, value: _HasShape | Sized) -> None:
    """Require an array without an axis of length 0, or a collection with elements.

    Example:
        >>> check_not_empty("images", np.zeros((0, 3)))
        Traceback (most recent call last):
        ValueError: images must not be empty, got shape (0, 3).
    """
    shape = getattr(value, "shape", None)
    if shape is not None and 0 in shape:
        raise ValueError(f"{name} must not be empty, got shape {tuple(shape)}.")
    if isinstance(value, Sized) and not len(value):
        raise ValueError(f"{name} must not be empty.")


def check_unique(name: str, values: Sequence[Any]) -> None:
    """Require values without duplicates.

    Example:
        >>> check_unique("names", ("x", "y", "x"))
        Traceback (most recent call last):
        ValueError: names must be unique, got ('x', 'y', 'x').
    """
    if len(set(values)) < len(values):
        raise ValueError(f"{name} must be unique, got {values!r}.")
