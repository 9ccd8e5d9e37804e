"""Functions of the user as metrics: what they take, and what they return."""

import functools
import inspect
from collections.abc import Callable
from numbers import Real
from typing import Any

from unbraid.foundation import find_own_name, load_from_file

from ._score import Score

FUNCTION_SECONDS = 1.0
"""Assumed cost of a function whose cost is not known."""


class OwnFunction:
    """A function of the user that returns a :class:`Score`, also in other processes.

    A number becomes a score with the name of the function. A function in a file of the
    user is imported again by the process that calls it.

    Args:
        function: Function of codes, and of factors if it uses them.

    Example:
        >>> def spread(codes):
        ...     return 0.5
        >>> OwnFunction(spread)([[0.0], [1.0]]).name
        'spread'
    """

    __name__: str
    __wrapped__: Callable[..., Any]

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *given: Any, **options: Any) -> Any:
        result = self.__wrapped__(*given, **options)
        if isinstance(result, Real) and not isinstance(result, Score):
            return Score(float(result), name=self.__name__)
        return result

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnFunction) and self.__wrapped__ == other.__wrapped__

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __reduce__(self) -> tuple[Any, ...]:
        name = find_own_name(self.__wrapped__)
        return (_reload, (name,)) if name else (OwnFunction, (self.__wrapped__,))


def _reload(name: str) -> OwnFunction:
    return OwnFunction(load_from_file(name)[1])


def takes_factors(function: Callable[..., Any]) -> bool:
    """Return whether a function needs a second argument besides codes and a seed."""
    needed = [
        parameter
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind
        in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.name != "seed"
    ]
    return len(needed) > 1
