"""Functions whose keyword arguments are training settings."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar, get_type_hints

from unbraid.foundation import suggest

from ._settings import TrainingOverrides, TrainingSettings

_PLACEHOLDER = "        {settings}\n"
_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def list_settings(
    function: Callable[_Arguments, _Result],
) -> Callable[_Arguments, _Result]:
    """List every training setting in a function's signature and docstring.

    Args:
        function: Function that takes ``**overrides``, with ``{settings}`` among the
            arguments in its docstring.
    """
    signature, hints = inspect.signature(function), get_type_hints(TrainingOverrides)
    positional, named = [], []
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named.append(parameter)
        elif parameter.kind is not inspect.Parameter.VAR_KEYWORD:
            positional.append(parameter)
    settings = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.get_default(),
            annotation=hints[name],
        )
        for name, field in TrainingSettings.model_fields.items()
    ]
    listed = signature.replace(parameters=[*positional, *settings, *named])
    function.__signature__ = listed  # pyright: ignore[reportFunctionMemberAccess]
    if function.__doc__ is not None:
        function.__doc__ = function.__doc__.replace(_PLACEHOLDER, _describe_settings())
    return function


def _describe_settings() -> str:
    return "".join(
        textwrap.fill(
            f"{name}: {field.description}",
            width=88,
            initial_indent=" " * 8,
            subsequent_indent=" " * 12,
        )
        + "\n"
        for name, field in TrainingSettings.model_fields.items()
    )


def read_settings(
    function: Callable[..., Any],
    settings: TrainingSettings | None,
    overrides: Mapping[str, Any],
) -> TrainingSettings:
    """Return training settings with some of them replaced.

    Args:
        function: Function that was called, for the message.
        settings: Settings, or ``None`` for the defaults.
        overrides: Keyword arguments of the call.

    Raises:
        TypeError: If a keyword is not a training setting.
        ValueError: If a value is not valid.
    """
    for name in overrides:
        if name not in TrainingSettings.model_fields:
            known = inspect.signature(function).parameters
            raise TypeError(
                f"{function.__name__}() got an unexpected keyword argument {name!r}."
                f"{suggest(name, known)}"
            )
    given = settings.model_fields_set if settings is not None else ()
    kept = {name: getattr(settings, name) for name in given}
    return TrainingSettings.read({**kept, **overrides}, "fit")
