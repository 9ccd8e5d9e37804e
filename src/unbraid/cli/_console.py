"""Output of the command line: tables and JSON on stdout, errors on stderr."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

_LONGEST = 1_000
"""Letters of a message; of a longer one, the middle is left out."""


def print_json(value: Any) -> None:
    """Print a value for machines, one document on stdout."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table, as wide as the terminal, or as wide as it needs in a pipe."""
    table = Table(*columns, box=box.SIMPLE_HEAD)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    # In a pipe nothing should be cut or wrapped: the reader may be `grep`.
    width = None if sys.stdout.isatty() else 10_000
    Console(width=width).print(table)


def print_error(error: BaseException, code: int = 1, command: str = "unbraid") -> int:
    """Print on stderr, in one line, what went wrong.

    Args:
        error: The error, whose text is the message.
        code: Exit code that goes with it.
        command: Text that the line starts with.

    Returns:
        The exit code.
    """
    text = str(error).strip() or type(error).__name__
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.strerror}: {error.filename}" if error.filename else text
    text = one_line(text)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 200]} ... {text[-200:]}"
    # A closed stderr is no reason to fail otherwise than with the code.
    with contextlib.suppress(OSError, ValueError):
        typer.echo(f"{command}: {text}", err=True)
    return code


def one_line(text: str) -> str:
    r"""Return a text without line breaks and without codes that steer a terminal.

    Example:
        >>> one_line("first" + chr(10) + "  second" + chr(27))
        'first second\\x1b'
    """
    joined = " ".join(part.strip() for part in text.splitlines() if part.strip())
    return "".join(
        letter if letter.isprintable() else ascii(letter)[1:-1] for letter in joined
    )


def ready_streams() -> None:
    """Make stdout and stderr usable, also where they are closed or not Unicode."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by whoever started this process
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            # File names need not be valid Unicode, and must not stop the output.
            stream.reconfigure(errors="backslashreplace")


def close_stdout() -> int:
    """Stop writing to a reader that is gone, and give the exit code for it."""
    # Else Python would try to flush what is left, fail, and say so.
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
