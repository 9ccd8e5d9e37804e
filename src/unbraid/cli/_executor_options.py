"""Options that say where runs are computed, for every command that starts runs."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, get_type_hints

import typer

from ._console import print_error
from ._option_groups import expand_parameter

if TYPE_CHECKING:
    from unbraid.execution import AbstractExecutor

DeviceOption = Annotated[
    str, typer.Option(help="Device to train on: cpu, cuda, mps or auto.")
]


@dataclass(frozen=True, kw_only=True)
class ExecutorOptions:
    """Where runs are computed.

    Attributes:
        workers: Number of runs to train at once (default: one per core).
        executor: ``"local"`` for this machine, or ``"ray"``.
        address: Address of a Ray cluster (default: start Ray on this machine).
        cpus: Number of CPUs that each run requests from Ray.
        gpus: Number of GPUs that each run requests from Ray.
        device: Device of each run.
    """

    workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of runs to train at once (default: one per core)."
        ),
    ] = None
    executor: Annotated[
        Literal["local", "ray"],
        typer.Option(help="Executor of the runs: this machine, or Ray."),
    ] = "local"
    address: Annotated[
        str | None,
        typer.Option(
            help="Address of a Ray cluster (default: start Ray on this machine)."
        ),
    ] = None
    cpus: Annotated[
        float,
        typer.Option(min=0, help="Number of CPUs that each run requests from Ray."),
    ] = 1.0
    gpus: Annotated[
        float,
        typer.Option(min=0, help="Number of GPUs that each run requests from Ray."),
    ] = 0.0
    device: DeviceOption = "auto"

    def make(self) -> "AbstractExecutor":
        """Return the executor, after checking the device and the address."""
        from unbraid.execution import LocalExecutor, RayExecutor, count_workers

        if self.executor == "local":
            check_device(self.device)  # the nodes of a cluster may have others
            if self.address is not None:
                raise typer.BadParameter(
                    "An address needs --executor ray.", param_hint="--address"
                )
            return LocalExecutor(self.workers or count_workers(self.device))
        try:
            return RayExecutor(
                n_workers=self.workers,
                address=self.address,
                cpus=self.cpus,
                gpus=self.gpus,
            )
        except ImportError as error:
            print_error(error)
            raise typer.Exit(1) from None


def add_executor_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has an option for each of :class:`ExecutorOptions`.

    Args:
        command: Command that takes ``where``.
    """
    hints = get_type_hints(ExecutorOptions, include_extras=True)
    options = [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=hints[name],
        )
        for name, field in ExecutorOptions.__dataclass_fields__.items()
    ]
    return expand_parameter(
        command, "where", options, lambda values: ExecutorOptions(**values)
    )


def check_device(device: str) -> None:
    """Refuse a device that this machine does not have."""
    from unbraid.training import choose_device

    try:
        choose_device(device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device") from error
