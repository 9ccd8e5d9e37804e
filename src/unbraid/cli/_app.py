"""The ``unbraid`` command: its sub-commands, and how it fails."""

import io
import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from ._console import complain
from ._data_distances import data
from ._demo import demo
from ._discover import discover
from ._evaluate import evaluate
from ._explore import explore
from ._factorize import factorize
from ._names import names
from ._reproduce import reproduce
from ._study import study
from ._train import train

app = typer.Typer(
    name="unbraid",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn, measure and choose disentangled representations.",
)
app.add_typer(data, name="data")
app.add_typer(study, name="study")
app.command()(demo)
app.command()(discover)
app.command()(evaluate)
app.command()(explore)
app.command()(factorize)
app.command()(reproduce)
app.command()(names)
app.command()(train)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unbraid {version('unbraid')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """Options that stand before the sub-command."""


def main() -> None:
    """Run the command line; one sentence and an exit code on failure.

    Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Bytes of file names that are not UTF-8 are printed as escapes.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except Exception as error:
        if os.environ.get("UNBRAID_TRACEBACK"):
            raise
        # ValueError and OSError are the parents of what we raise on bad input.
        if not isinstance(error, OSError | ValueError | ArithmeticError | MemoryError):
            error = RuntimeError(
                f"unexpected {type(error).__name__}: {error}. This is a fault of "
                "unbraid: please report it with what UNBRAID_TRACEBACK=1 shows."
            )
        complain(error)
        raise SystemExit(1) from None
