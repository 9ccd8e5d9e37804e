"""``unbraid discover``: unlabelled images in, a chosen model out."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ._console import print_json
from ._data import JsonOption, announce_hidden
from ._executor_options import ExecutorOptions, add_executor_options
from ._interruption import resumable

if TYPE_CHECKING:
    from unbraid.discovery import Discovery

NOTHING_CHOSEN = 3
"""Exit code of a discovery that refused to choose a model."""


@add_executor_options
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
            help="sweep compares a list of configurations; pbt evolves hyperparameters "
            "in populations; recursive repeats that on ever more uniform images "
            "(rPU-VAE)."
        ),
    ] = "sweep",
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time to train for, such as 90s, 10m or 2h (default: from 1 to 30 "
            "minutes, by the time of a training step).",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            metavar="CSV",
            help="CSV file with the labels of 20 to 1,000 images, which improve the "
            "choice: a column 'row' or 'file', and a column per factor.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the first run of each configuration.")
    ] = 0,
    latents: Annotated[
        int,
        typer.Option(
            min=1,
            help="Number of latents of each model. Choose more than the data are "
            "likely to have factors.",
        ),
    ] = 10,
    objectives: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Objectives to compare, separated by commas: factor_vae, and those "
            "with a weight beta (beta_vae, beta_tc_vae, mine.py:LogVAE).",
        ),
    ] = "beta_tc_vae",
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the plan with its times and write it to the folder, without "
            "training. The same command without this option follows the plan.",
        ),
    ] = False,
    json: JsonOption = False,
    *,
    where: ExecutorOptions,
) -> None:
    """Train several models on images, and choose the best one without labels.

    The same command resumes after an interruption. The exit code is 3 if no model is
    better than chance, so that none was chosen.

    Example: unbraid discover pictures --out found --budget 10m
    """
    _check_budget(budget)
    _check_objectives(objectives, method)
    options: dict[str, Any] = {
        "method": method,
        "budget": budget,
        "executor": where.make(),
        "device": where.device,
        "seed": seed,
        "n_latents": latents,
        "objectives": objectives.split(","),
    }
    if dry_run:
        _print_plan(data, out, options, as_json=json)
        return
    found = run_discovery(data, out, labels=labels, **options)
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


def _check_objectives(objectives: str, method: str) -> None:
    """Treat objectives that cannot race as wrong usage."""
    from unbraid.discovery import read_objectives

    try:
        names = read_objectives(objectives.split(","))
    except (TypeError, ValueError) as error:
        raise typer.BadParameter(str(error), param_hint="--objectives") from error
    if method != "sweep" and names != ("beta_tc_vae",):
        raise typer.BadParameter(
            "Objectives can be chosen for --method sweep only.",
            param_hint="--objectives",
        )


def _print_plan(
    data: str, out: Path, options: dict[str, Any], *, as_json: bool
) -> None:
    """Print what a discovery would do, and how long it would take."""
    from unbraid.discovery import plan_discovery
    from unbraid.foundation import format_duration

    announce_hidden(data)
    plan = plan_discovery(data, out, **options)
    if as_json:
        print_json(plan.to_plain())
        return
    for note in plan.notes:
        typer.echo(note)
    for number, rung in enumerate(plan.rungs, start=1):
        typer.echo(
            f"Round {number}: {rung.description}, about {format_duration(rung.seconds)}"
        )
    if not plan.rungs:
        typer.echo(f"{plan.n_runs} runs of {plan.steps:,} steps")
    typer.echo(
        f"About {format_duration(plan.seconds)} in all. The plan is in "
        f"{out / 'plan.json'}."
    )


def announce(found: "Discovery") -> None:
    """Print the summary, and where the page with figures is."""
    typer.echo(found.summary.read_text(encoding="utf-8"), nl=False)
    if found.report is not None:
        typer.echo(f"\nReport: {found.report}")


def run_discovery(data: str, out: Path, **options: Any) -> "Discovery":
    """Call :func:`unbraid.discover`, and show its progress.

    Args:
        data: Data, as on the command line.
        out: Folder to write to.
        options: Other arguments of the function.
    """
    from unbraid.discovery import discover as discover_in
    from unbraid.foundation import format_duration

    from ._race_view import RaceView

    announce_hidden(data)
    began = time.monotonic()
    with resumable(), RaceView() as view:
        found = discover_in(data, out, observer=view, **options)
    typer.echo(f"done in {format_duration(time.monotonic() - began)}\n", err=True)
    return found
