"""``unbraid study``: many runs from one file, and what became of them."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ._console import complain, print_json, print_table
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
    from unbraid.execution import AbstractExecutor
    from unbraid.studies import Study

study = typer.Typer(
    name="study", no_args_is_help=True, help="Run and look after studies of many runs."
)

FolderArgument = Annotated[
    Path, typer.Argument(metavar="DIR", help="Folder of a study.")
]
LoggerOption = Annotated[
    list[str] | None,
    typer.Option(help="Every run also reports to tensorboard, wandb or mlflow."),
]
DiskOption = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="Most that the study may take, such as 2GB."),
]


@study.command()
def run(
    file: Annotated[
        Path,
        typer.Argument(metavar="STUDY", help="A study in YAML, or a study's folder."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder; named like the file when not given."),
    ] = None,
    workers: WorkersOption = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    cpus: CpusOption = 1.0,
    gpus: GpusOption = 0.0,
    device: DeviceOption = "auto",
    logger: LoggerOption = None,
    disk: DiskOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what it would cost, and stop.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Do what is missing of a study; the same command goes on after any stop.

    Example: unbraid study run study.yaml --workers 2
    """
    wanted, folder = _read(file, out)
    budget = read_size(disk)
    place = choose_executor(executor, workers, address, cpus, gpus, device)
    announce_cost(wanted, folder, place.n_workers, as_json=json and dry_run)
    if not dry_run:
        _conduct(wanted, folder, place, device, logger or [], budget, as_json=json)


@study.command()
def retry(
    folder: FolderArgument,
    failed: Annotated[
        bool, typer.Option("--failed", help="Runs that failed: the default.")
    ] = True,
    workers: WorkersOption = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    cpus: CpusOption = 1.0,
    gpus: GpusOption = 0.0,
    device: DeviceOption = "auto",
    logger: LoggerOption = None,
    disk: DiskOption = None,
    json: JsonOption = False,
) -> None:
    """Try the runs that failed again, and do what else is missing.

    Example: unbraid study retry study --failed
    """
    del failed
    from unbraid.studies import retry_failed

    wanted, folder = _read(folder, None)
    budget = read_size(disk)
    place = choose_executor(executor, workers, address, cpus, gpus, device)
    n_failed = retry_failed(folder)
    typer.echo(f"{n_failed} failed runs are tried again", err=True)
    _conduct(wanted, folder, place, device, logger or [], budget, as_json=json)


@study.command()
def status(folder: FolderArgument, json: JsonOption = False) -> None:
    """Say how far a study is, and why runs failed.

    Example: unbraid study status study
    """
    from unbraid.studies import study_status

    found = study_status(folder)
    if json:
        print_json(found)
        return
    counts = found["counts"]
    words = [f"{n} {state}" for state, n in counts.items() if n]
    typer.echo(f"{found['name']}: {found['n_runs']} runs, {', '.join(words)}")
    if found["seconds_left"] is not None:
        from unbraid.foundation import format_duration

        typer.echo(
            f"about {format_duration(found['seconds_left'])} left at the present pace"
        )
    for line in found["running"]:
        far = f"step {line['step']:,} of {line['steps']:,}"
        typer.echo(f"  running  {line['id']}  {far}  {line['worker']}")
    for line in found["failed"]:
        typer.echo(f"  failed   {line['id']}  {line['error']}")


@study.command()
def table(
    folder: FolderArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="A .csv or .parquet file; standard output if not given."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """One row per run: every setting, every score.

    Example: unbraid study table study -o scores.csv
    """
    from unbraid.foundation import require_own_file
    from unbraid.studies import is_table, save_table, study_table

    if out is not None and out.suffix not in (".csv", ".parquet"):
        raise typer.BadParameter(
            f"Expected a name that ends in .csv or .parquet, got {str(out)!r}.",
            param_hint="--out",
        )
    if out is not None and not json:
        require_own_file(out, is_table, "a table")
    rows = study_table(folder)
    if json:
        missing = rows.astype(object).where(rows.notna(), None)
        print_json(missing.to_dict(orient="records"))
    elif out is None:
        typer.echo(rows.to_csv(index=False), nl=False)
    else:
        try:
            save_table(rows, os.path.realpath(out))  # a link stays a link
        except ImportError as error:
            complain(error)
            raise typer.Exit(1) from None


@study.command()
def report(
    folder: FolderArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File to write; report.html in the folder by default."
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


@study.command()
def prune(
    folder: FolderArgument,
    disk: DiskOption = None,
    models: Annotated[
        bool, typer.Option("--models", help="Also models, while it is too large.")
    ] = False,
    strangers: Annotated[
        bool, typer.Option("--strangers", help="Also runs the study has no more.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Delete what finished runs do not need: states, and traces if it is too large.

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
        str | None, typer.Argument(help="Of a preset; all are listed without one.")
    ] = None,
    scale: Annotated[str, typer.Option(help="mini, small or paper.")] = "mini",
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


def read_size(text: str | None) -> int | None:
    """Bytes from what a user typed, such as 2GB or 500 MB.

    Example:
        >>> read_size("1.5GB"), read_size("200")
        (1500000000, 200)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if found is None:
        raise typer.BadParameter(
            f"Expected a size such as 2GB or 500MB, got {text!r}.", param_hint="--disk"
        )
    power = " kmgt".index(found[2] or " ")
    return int(float(found[1]) * 1000**power)


def _read(file: Path, out: Path | None) -> tuple["Study", Path]:
    """The study of a file or a folder, and the folder that it is kept in."""
    from unbraid.studies import StudyFolder, read_study

    if file.is_dir():
        return StudyFolder(file).study, out or file
    if not file.exists():
        raise FileNotFoundError(
            f"study: expected a study in YAML or its folder, got {str(file)!r}, which "
            "is not there. `unbraid study preset` gives one to start from."
        )
    if out is None and not file.suffix:
        raise typer.BadParameter(
            f"Expected --out for a file without a suffix, got {str(file)!r}.",
            param_hint="--out",
        )
    return read_study(file), out or file.with_suffix("")


def announce_cost(
    wanted: "Study", folder: Path, workers: int | None, *, as_json: bool
) -> None:
    """Number of runs, time and disk, before anything begins."""
    from unbraid.execution import count_cores
    from unbraid.foundation import format_duration
    from unbraid.studies import StudyFolder, estimate, fingerprints_of

    specs = wanted.runs()
    for text in dict.fromkeys(str(spec.data) for spec in specs):
        announce_hidden(text)
    fingerprints = fingerprints_of(specs)
    cells = StudyFolder(folder).cells_of(specs, fingerprints)
    left = [cell.spec for cell in cells if cell.files.state not in ("done", "failed")]
    n_workers = workers or count_cores()
    cost = estimate(left)
    if as_json:
        print_json(
            {
                "n_runs": len(specs),
                "n_done": len(specs) - len(left),
                "seconds": cost.on(n_workers),
                "bytes": cost.n_bytes,
                "runs": [cell.spec.to_plain() | {"id": cell.id} for cell in cells],
            }
        )
        return
    words = f"{wanted.name}: {len(specs):,} runs in {folder}"
    if len(left) < len(specs):
        words += f", {len(specs) - len(left):,} of them done or failed"
    if left:
        words += (
            f"; about {format_duration(cost.on(n_workers))} with {n_workers} workers, "
            f"{cost.n_bytes / 1e6:,.0f} MB of disk"
        )
    typer.echo(words, err=True)


def _conduct(
    wanted: "Study",
    folder: Path,
    executor: "AbstractExecutor",
    device: str,
    loggers: list[str],
    budget: int | None,
    *,
    as_json: bool,
) -> None:
    from dataclasses import asdict

    from unbraid.studies import run_study

    from ._study_view import StudyView

    command = shlex.join(["unbraid", *sys.argv[1:]])
    view = StudyView()
    try:
        end = run_study(
            wanted,
            folder,
            executor=executor,
            device=device,
            loggers=loggers,
            disk_budget=budget,
            observer=view,
        )
    except KeyboardInterrupt:
        typer.echo(f"unbraid: broken off. To go on: {command}", err=True)
        raise typer.Exit(130) from None
    finally:
        view.close()
    if as_json:
        print_json(asdict(end))
    else:
        failed = f", {end.failed} failed" if end.failed else ""
        typer.echo(f"{end.done} runs done{failed}; the table is {folder / 'table.csv'}")
    if end.left:
        typer.echo(
            f"unbraid: {end.reason}, {end.left} runs left. To go on: {command}",
            err=True,
        )
        raise typer.Exit(130)
    if end.failed:
        typer.echo(
            f"unbraid: {end.failed} runs failed. Why: unbraid study status {folder}; "
            f"to try again: unbraid study retry {folder}",
            err=True,
        )
        raise typer.Exit(1)
