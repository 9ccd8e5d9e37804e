"""How the command line talks: tables and JSON on stdout, complaints on stderr."""

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table


def print_json(value: Any) -> None:
    """Print a value for machines, one document on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str | None = None
) -> None:
    """Print a table, as wide as the terminal, or as wide as it needs in a pipe."""
    table = Table(*columns, title=title, box=box.SIMPLE_HEAD, title_justify="left")
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    # In a pipe nothing should be cut or wrapped: the reader may be `grep`.
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width).print(table)


def complain(error: BaseException) -> None:
    """Say on stderr, in one line, what went wrong."""
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else text
    typer.echo(f"unbraid: {text}", err=True)
