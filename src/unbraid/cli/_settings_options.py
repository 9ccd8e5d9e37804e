"""Training settings as options of a command, with their descriptions as help."""

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._option_groups import expand_parameter

if TYPE_CHECKING:
    from unbraid.training import TrainingSettings

_SHORT_NAMES = {"n_latents": "--latents"}
_FORMER_NAMES = {
    "optimizer": "--optimiser",
    "optimizer_options": "--optimiser-options",
    "standardize": "--standardise/--no-standardise",
}


def add_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has an option for each training setting.

    Args:
        command: Command that takes ``settings``.
    """
    from unbraid.training import TrainingSettings

    fields = TrainingSettings.model_fields
    options = [_make_option(name, field) for name, field in fields.items()]
    return expand_parameter(command, "settings", options, _read_settings)


def _make_option(name: str, field: Any) -> inspect.Parameter:
    kind = field.annotation if field.annotation in (bool, int) else str
    default = field.get_default()
    if kind is str:  # read as YAML
        default = str(default) if default else None
    option = typer.Option(*_option_names(name, kind), help=field.description)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[kind if default is not None else kind | None, option],
    )


def _option_names(name: str, kind: type) -> list[str]:
    option = f"--{name.replace('_', '-')}"
    if kind is bool:
        option = f"{option}/--no-{option[2:]}"
    names = (_SHORT_NAMES.get(name), option, _FORMER_NAMES.get(name))
    return [part for part in names if part is not None]


def _read_settings(texts: dict[str, Any]) -> "TrainingSettings":
    from unbraid.foundation import read_yaml
    from unbraid.training import TrainingSettings

    settings = {}
    for name, text in texts.items():
        if text is None:
            continue
        try:
            settings[name] = read_yaml(text, name) if isinstance(text, str) else text
            # Each by itself, so that an error names the option.
            TrainingSettings.read({name: settings[name]}, name)
        except ValueError as error:
            raise typer.BadParameter(
                str(error).removeprefix(f"{name}: "),
                param_hint=_SHORT_NAMES.get(name, f"--{name.replace('_', '-')}"),
            ) from error
    return TrainingSettings.read(settings, "train")
