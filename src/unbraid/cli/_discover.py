"""``unbraid discover``: unlabelled images in, a chosen model out."""

import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._console import print_json
from ._data import JsonOption, announce_hidden
from ._executor_options import (
    AddressOption,
    CpusOption,
    DeviceOption,
    ExecutorOption,
    GpusOption,
    WorkersOption,
    choose_executor,
)

if TYPE_CHECKING:
    from unbraid.discovery import Discovery

NOTHING_CHOSEN = 3
"""Exit code of a discovery that refused to choose a model."""


def discover(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A folder of pictures, a file of arrays, or a name with options.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write to.")],
    method: Annotated[
        Literal["sweep", "pbt", "recursive"],
        typer.Option(
            help="Settings from a list, populations that breed them, or populations "
            "on ever more uniform images (rPU-VAE)."
        ),
    ] = "sweep",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Such as 90s, 10m or 2h; from a timing if not given."
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="20 to 1,000 labels: a column row or file, and one per factor.",
        ),
    ] = None,
    workers: WorkersOption = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    cpus: CpusOption = 1.0,
    gpus: GpusOption = 0.0,
    device: DeviceOption = "auto",
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first run of each configuration.")
    ] = 0,
    json: JsonOption = False,
) -> None:
    """Train several models on images, and choose the best one without labels.

    The same command resumes after an interruption. The exit code is 3 if no model is
    better than chance, so that none was chosen.

    Example: unbraid discover pictures --out found --budget 10m
    """
    _check_budget(budget)
    place = choose_executor(executor, workers, address, cpus, gpus, device)
    found = conduct(
        data,
        out,
        method=method,
        budget=budget,
        labels=labels,
        executor=place,
        device=device,
        seed=seed,
    )
    if json:
        print_json(found.to_plain())
    else:
        announce(found)
    if found.model is None:
        typer.echo(f"unbraid: {found.ranking.reason}", err=True)
        raise typer.Exit(NOTHING_CHOSEN)


def _check_budget(budget: str | None) -> None:
    """Treat a budget that is no duration as wrong usage."""
    from unbraid.foundation import parse_duration

    try:
        if budget is not None:
            parse_duration(budget)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--budget") from error


def announce(found: "Discovery") -> None:
    """Print the account, and where the page with pictures is."""
    typer.echo(found.summary.read_text(encoding="utf-8"), nl=False)
    if found.report is not None:
        typer.echo(f"\nReport: {found.report}")


def conduct(data: str, out: Path, **options: Any) -> "Discovery":
    """Call :func:`unbraid.discover`, show how it gets on, and say how to go on."""
    from unbraid.discovery import discover as discover_in
    from unbraid.foundation import format_duration

    from ._race_view import RaceView

    announce_hidden(data)
    began, view = time.monotonic(), RaceView()
    try:
        found = discover_in(data, out, observer=view, **options)
    except KeyboardInterrupt as error:
        command = shlex.join(["unbraid", *sys.argv[1:]])
        reason = str(error).removeprefix("discover: ") or "interrupted"
        typer.echo(f"unbraid: {reason}. Resume with: {command}", err=True)
        raise typer.Exit(130) from None
    finally:
        view.close()
    typer.echo(f"done in {format_duration(time.monotonic() - began)}\n", err=True)
    return found
