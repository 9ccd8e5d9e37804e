"""Options that say where runs are computed, for every command that starts some."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ._console import complain

if TYPE_CHECKING:
    from unbraid.execution import AbstractExecutor

WorkersOption = Annotated[
    int | None,
    typer.Option(min=1, help="Runs at once; one per core when not given."),
]
ExecutorOption = Annotated[
    Literal["local", "ray"],
    typer.Option(help="Where to compute: this machine, or Ray."),
]
AddressOption = Annotated[
    str | None, typer.Option(help="Of a Ray cluster; a local Ray when not given.")
]
CpusOption = Annotated[float, typer.Option(min=0, help="Per run, on Ray.")]
GpusOption = Annotated[float, typer.Option(min=0, help="Per run, on Ray.")]
DeviceOption = Annotated[str, typer.Option(help="cpu, cuda, mps or auto.")]


def check_device(device: str) -> None:
    """Refuse a device that there is not, before anything is computed."""
    from unbraid.training import choose_device

    try:
        choose_device(device)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--device") from error


def choose_executor(
    name: str,
    workers: int | None,
    address: str | None,
    cpus: float,
    gpus: float,
    device: str,
) -> "AbstractExecutor":
    """Where runs are computed, from the options of a command."""
    from unbraid.execution import LocalExecutor, RayExecutor, count_workers

    if name == "local":
        check_device(device)  # the nodes of a cluster may have others
        if address is not None:
            raise typer.BadParameter(
                "Expected --executor ray with an address, got local.",
                param_hint="--address",
            )
        return LocalExecutor(workers or count_workers(device))
    try:
        return RayExecutor(n_workers=workers, address=address, cpus=cpus, gpus=gpus)
    except ImportError as error:
        complain(error)
        raise typer.Exit(1) from None
