"""``unbraid study``: many runs from one file, and what became of them."""

import os
from pathlib import Path
from typing import Annotated

import typer

from ._console import print_error, print_json, print_table
from ._data import JsonOption
from ._executor_options import ExecutorOptions, add_executor_options
from ._study_run import (
    RunOptions,
    announce_cost,
    read_size,
    read_target,
    run_and_report,
)
from ._study_select import select

study = typer.Typer(
    name="study",
    no_args_is_help=True,
    help="Train and score many models from one file.",
)

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of a study.")
]
LoggerOption = Annotated[
    list[str] | None,
    typer.Option(help="Also report every run to tensorboard, wandb or mlflow."),
]
DiskOption = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Largest size of the folder, such as 2GB; files that finished runs do not "
        "need are deleted to stay below it.",
    ),
]


@study.command()
@add_executor_options
def run(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY", help="Study file (YAML), or the folder of a study."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder to write to (default: the study file without .yaml).",
        ),
    ] = None,
    logger: LoggerOption = None,
    disk: DiskOption = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Print the number of runs, time and disk space, and stop."
        ),
    ] = False,
    json: JsonOption = False,
    *,
    where: ExecutorOptions,
) -> None:
    """Train and score the runs of a study; the same command resumes it.

    Example: unbraid study run study.yaml --workers 2
    """
    wanted, folder = read_target(file, out)
    budget, executor = read_size(disk), where.make()
    announce_cost(wanted, folder, executor.n_workers, as_json=json and dry_run)
    if not dry_run:
        options = RunOptions(executor, where.device, logger or [], budget)
        run_and_report(wanted, folder, options, as_json=json)


@study.command()
@add_executor_options
def retry(
    folder: FolderArgument,
    failed: Annotated[
        bool, typer.Option("--failed", help="Try failed runs again (the default).")
    ] = True,
    logger: LoggerOption = None,
    disk: DiskOption = None,
    json: JsonOption = False,
    *,
    where: ExecutorOptions,
) -> None:
    """Try the failed runs of a study again, and finish the others.

    Example: unbraid study retry study --failed
    """
    del failed
    from unbraid.studies import retry_failed

    wanted, target = read_target(folder, None)
    options = RunOptions(where.make(), where.device, logger or [], read_size(disk))
    n_failed = retry_failed(target)
    typer.echo(f"{n_failed} failed runs are tried again", err=True)
    run_and_report(wanted, target, options, as_json=json)


@study.command()
def status(folder: FolderArgument, json: JsonOption = False) -> None:
    """Say how far a study is, and why runs failed.

    Example: unbraid study status study
    """
    from unbraid.studies import study_status

    status = study_status(folder)
    if json:
        print_json(status.to_plain())
        return
    counts = [f"{n} {state}" for state, n in status.counts.items() if n]
    typer.echo(f"{status.name}: {len(status.runs)} runs, {', '.join(counts)}")
    if status.seconds_left is not None:
        from unbraid.foundation import format_duration

        left = format_duration(status.seconds_left)
        typer.echo(f"about {left} left at the present pace")
    for run in status.runs_in("running"):
        progress = f"step {run.step:,} of {run.steps:,}"
        typer.echo(f"  running  {run.id}  {progress}  {run.worker}")
    for run in status.runs_in("failed"):
        typer.echo(f"  failed   {run.id}  {run.error}")


@study.command()
def table(
    folder: FolderArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File to write, .csv or .parquet (default: print as CSV).",
        ),
    ] = None,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Add columns with the parts of each score, such as those of factors.",
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """One row per run: every setting, every score.

    Example: unbraid study table study -o scores.csv
    """
    from unbraid.foundation import require_own_file
    from unbraid.studies import is_table, save_table, study_table

    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(
            f"The name must end in .csv or .parquet, got {str(out)!r}.",
            param_hint="--out",
        )
    if out is not None and not json:
        require_own_file(out, is_table, "a table")
    rows = study_table(folder, details=details)
    if json:
        missing = rows.astype(object).where(rows.notna(), None)
        print_json(missing.to_dict(orient="records"))
    elif out is None:
        typer.echo(rows.to_csv(index=False), nl=False)
    else:
        try:
            save_table(rows, os.path.realpath(out))  # a link stays a link
        except ImportError as error:
            print_error(error)
            raise typer.Exit(1) from None


@study.command()
def report(
    folder: FolderArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write (default: report.html in the folder)."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a page that shows a study, a discovery, a run or a model.

    It has tables, pictures and warnings in one file; nothing is trained.

    Example: unbraid report study -o report.html
    """
    from unbraid.reports import write_report

    page = write_report(folder, out)
    if json:
        print_json({"page": str(page), "bytes": page.stat().st_size})
    else:
        typer.echo(page)


study.command()(select)


@study.command()
def prune(
    folder: FolderArgument,
    disk: DiskOption = None,
    models: Annotated[
        bool,
        typer.Option(
            "--models",
            help="Also delete models while the folder is larger than --disk.",
        ),
    ] = False,
    strangers: Annotated[
        bool,
        typer.Option(
            "--strangers", help="Also delete runs that are no longer part of the study."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Delete training states of finished runs, and traces if the folder is too large.

    Example: unbraid study prune study --disk 500MB
    """
    from dataclasses import asdict

    from unbraid.studies import prune as prune_study

    found = prune_study(
        folder, budget=read_size(disk), models=models, strangers=strangers
    )
    if json:
        print_json(asdict(found))
        return
    typer.echo(
        f"{found.n_files} files and {found.n_strangers} runs deleted, "
        f"{found.n_bytes / 1e6:.1f} MB; the study takes {found.size / 1e6:.1f} MB"
    )


@study.command()
def preset(
    name: Annotated[
        str | None, typer.Argument(help="Name of a preset (default: list all of them).")
    ] = None,
    scale: Annotated[
        str,
        typer.Option(help="Size of the sweep: mini, small or paper (as published)."),
    ] = "mini",
    json: JsonOption = False,
) -> None:
    """List the published sweeps, or print one as a study file to start from.

    Example: unbraid study preset dlib-2019 --scale mini > study.yaml
    """
    from unbraid.foundation import write_yaml
    from unbraid.studies import PRESETS, study_from_plain
    from unbraid.studies import preset as find_preset

    if name is None:
        rows = [
            {"name": key, "about": published.about}
            for key, published in PRESETS.items()
        ]
        if json:
            print_json(rows)
        else:
            print_table(("preset", "what"), [(r["name"], r["about"]) for r in rows])
        return
    try:
        plain = find_preset(name, scale)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    study_from_plain(plain, name)
    if json:
        print_json(plain)
    else:
        typer.echo(write_yaml(plain), nl=False)
