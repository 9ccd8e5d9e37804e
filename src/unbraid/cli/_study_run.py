"""Running a study from the command line: its file, its cost, and its end."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import typer

from ._console import print_json
from ._data import announce_hidden
from ._interruption import report_interruption, resumable
from ._study_view import StudyView

if TYPE_CHECKING:
    from unbraid.execution import AbstractExecutor
    from unbraid.studies import Study, StudyFolder


class RunOptions(NamedTuple):
    """How the runs of a study are computed.

    Attributes:
        executor: Executor that runs the jobs.
        device: Device of each run.
        loggers: Names of loggers that every run reports to.
        disk_budget: Largest size of the study's folder in bytes, if there is a limit.
    """

    executor: "AbstractExecutor"
    device: str
    loggers: list[str]
    disk_budget: int | None


def read_size(text: str | None) -> int | None:
    """Return the number of bytes that a text such as 2GB or 500 MB stands for.

    Example:
        >>> read_size("1.5GB"), read_size("200")
        (1500000000, 200)
    """
    if text is None:
        return None
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if found is None:
        raise typer.BadParameter(
            f"{text!r} is not a size. Write 2GB or 500MB.", param_hint="--disk"
        )
    power = " kmgt".index(found[2] or " ")
    return int(float(found[1]) * 1000**power)


def read_target(file: Path, out: Path | None) -> tuple["Study", "StudyFolder"]:
    """Return the study of a file or a folder, and the folder that it is kept in.

    Args:
        file: File of a study, or its folder.
        out: Folder to keep it in; the same folder, or one named like the file, when not
            given.
    """
    from unbraid.studies import StudyFolder, read_study

    if file.is_dir():
        folder = StudyFolder(file)
        return folder.study, folder if out is None else StudyFolder(out)
    if not file.exists():
        raise FileNotFoundError(
            f"There is no study {str(file)!r}. `unbraid study preset` gives a file to "
            "start from."
        )
    if out is None and not file.suffix:
        raise typer.BadParameter(
            f"{str(file)!r} has no suffix such as .yaml, so the folder of the study "
            "cannot have the same name. Name another folder.",
            param_hint="--out",
        )
    return read_study(file), StudyFolder(out or file.with_suffix(""))


def announce_cost(
    wanted: "Study",
    folder: "StudyFolder | Path",
    workers: int | None,
    *,
    as_json: bool,
) -> None:
    """Print the number of runs, their time and their disk space.

    Args:
        wanted: The study.
        folder: Its folder.
        workers: Number of runs at once; one per core when not given.
        as_json: Whether to print JSON on stdout instead of a line on stderr.
    """
    from unbraid.execution import count_cores
    from unbraid.foundation import format_duration
    from unbraid.studies import StudyFolder, estimate, fingerprints_of

    specs = wanted.runs()
    for text in dict.fromkeys(str(spec.data) for spec in specs):
        announce_hidden(text)
    fingerprints = fingerprints_of(specs)
    target = StudyFolder.at(folder)
    cells = target.cells_of(specs, fingerprints)
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
    line = f"{wanted.name}: {len(specs):,} runs in {target.path}"
    if len(left) < len(specs):
        line += f", {len(specs) - len(left):,} of them done or failed"
    if left:
        line += (
            f"; about {format_duration(cost.on(n_workers))} with {n_workers} workers, "
            f"{cost.n_bytes / 1e6:,.0f} MB of disk"
        )
    typer.echo(line, err=True)


def run_and_report(
    wanted: "Study", folder: "StudyFolder", options: RunOptions, *, as_json: bool
) -> None:
    """Run a study, print how it ended, and exit with a code unless all is done.

    Args:
        wanted: The study.
        folder: Its folder.
        options: Executor, device, loggers and disk space of its runs.
        as_json: Whether to print JSON.
    """
    from unbraid.studies import run_study

    with resumable(), StudyView() as view:
        result = run_study(
            wanted,
            folder,
            executor=options.executor,
            device=options.device,
            loggers=options.loggers,
            disk_budget=options.disk_budget,
            observer=view,
        )
    if as_json:
        print_json(result.to_plain())
    else:
        failed = f", {result.failed} failed" if result.failed else ""
        typer.echo(f"{result.done} runs done{failed}; the table is {folder.table_file}")
    if result.left:
        raise report_interruption(f"{result.reason}, {result.left} runs left")
    if result.failed:
        typer.echo(
            f"unbraid: {result.failed} runs failed. Why: unbraid study status "
            f"{folder.path}; to try again: unbraid study retry {folder.path}",
            err=True,
        )
        raise typer.Exit(1)
