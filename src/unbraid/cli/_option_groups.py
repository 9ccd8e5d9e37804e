"""Options of the command line that several commands share, as one parameter."""

import inspect
from collections.abc import Callable, Sequence
from typing import Any


def expand_parameter(
    command: Callable[..., None],
    name: str,
    options: Sequence[inspect.Parameter],
    read: Callable[[dict[str, Any]], Any],
) -> Callable[..., None]:
    """Return a command that has several options in place of one parameter.

    Args:
        command: Command that takes the parameter.
        name: Name of the parameter.
        options: Options in place of it, with the annotations of Typer.
        read: Makes the value of the parameter from the values of the options by name.
    """
    signature = inspect.signature(command)
    parameters = []
    for parameter in signature.parameters.values():
        parameters += options if parameter.name == name else [parameter]

    def run(**values: Any) -> None:
        group = {option.name: values.pop(option.name) for option in options}
        command(**values, **{name: read(group)})

    # What typer and its help look at.
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__signature__ = signature.replace(  # pyright: ignore
        parameters=[
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in parameters
        ]
    )
    return run
