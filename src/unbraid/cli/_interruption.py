"""What a command says when it is interrupted: how to resume."""

import contextlib
import shlex
import sys
from collections.abc import Iterator

import typer


@contextlib.contextmanager
def resumable() -> Iterator[None]:
    """Report an interruption of the block, and exit with code 130."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise report_interruption(str(error)) from None


def report_interruption(reason: str = "") -> typer.Exit:
    """Print how to resume the command, and return the exit to raise.

    Args:
        reason: Reason of the interruption, such as the number of runs left.
    """
    command = shlex.join(["unbraid", *sys.argv[1:]])
    # Callers of the library see which function was interrupted; here it is clear.
    reason = reason.removeprefix("discover: ").removeprefix("fit: ") or "interrupted"
    typer.echo(f"unbraid: {reason}. Resume with: {command}", err=True)
    return typer.Exit(130)
