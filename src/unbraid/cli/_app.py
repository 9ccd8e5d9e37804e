"""The ``unbraid`` command: its sub-commands, and how it fails."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ._compare import compare
from ._console import close_stdout, print_error, ready_streams
from ._data_learn_loss import data
from ._demo import demo
from ._discover import discover
from ._encode import encode
from ._evaluate import evaluate
from ._explore import explore
from ._extensions import COMMANDS
from ._factorize import factorize
from ._names import names
from ._settings_options import add_settings
from ._study import report, study
from ._train import train

_INTERRUPTED = KeyboardInterrupt("Interrupted.")
# Typer names the parent of its errors of usage nowhere.
_UsageError: type[Exception] = typer.BadParameter.__bases__[0]


class _Group(TyperGroup):
    """Finds commands of other packages, and says so when one was interrupted.

    Also builds ``train`` when it is called: its options come from the library, which
    takes seconds to import.
    """

    def list_commands(self, ctx: Any) -> list[str]:
        """Names of all commands; those of other packages last."""
        return [*super().list_commands(ctx), *COMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return the command of that name; ``None`` if there is none."""
        return super().get_command(ctx, cmd_name) or COMMANDS.get(cmd_name)

    def resolve_command(self, *args: Any, **kwargs: Any) -> Any:
        """Find the command that the arguments name."""
        name, command, rest = super().resolve_command(*args, **kwargs)
        return name, _build_train() if name == "train" else command, rest

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        """Read the arguments."""
        try:
            return super().make_context(*args, **kwargs)
        except KeyboardInterrupt:
            raise typer.Exit(print_error(_INTERRUPTED, 130)) from None

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the arguments name."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise typer.Exit(print_error(_INTERRUPTED, 130)) from None


app = typer.Typer(
    name="unbraid",
    cls=_Group,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn, measure and choose disentangled representations.",
)
app.add_typer(data, name="data")
app.add_typer(study, name="study")
app.command()(compare)
app.command()(demo)
app.command()(discover)
app.command()(encode)
app.command()(evaluate)
app.command()(explore)
app.command()(factorize)
app.command()(names)
app.command()(report)


@app.command("train", help=train.__doc__)
def _list_train() -> None:
    """Stand for ``train`` in the list of commands."""


def _build_train() -> Any:
    """Build the command with an option for each training setting."""
    single = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    single.command("train")(add_settings(train))
    return typer.main.get_command(single)


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


def run() -> None:
    """Run the command line; on failure, print one line and exit with a code."""
    ready_streams()
    with _noted_interruption() as was_interrupted:
        code = _exit_code(was_interrupted)
    try:
        sys.stdout.flush()
    except (OSError, ValueError):  # said above; Python would say it again as it exits
        close_stdout()
    raise SystemExit(code)


def _exit_code(was_interrupted: Callable[[], bool]) -> int:
    try:
        code = app(prog_name="unbraid", standalone_mode=False) or 0
        sys.stdout.flush()
    except KeyboardInterrupt:
        return print_error(_INTERRUPTED, 130)
    except BrokenPipeError:
        return close_stdout()
    except _UsageError as error:
        return _print_usage_error(error)
    except Exception as error:
        if os.environ.get("UNBRAID_TRACEBACK"):
            raise
        # Ctrl-C in the middle of an import leads it to errors of its own.
        if was_interrupted():
            return print_error(_INTERRUPTED, 130)
        return print_error(_explained(error), 1)
    return code


def _print_usage_error(error: Any) -> int:
    """Say in one line what is wrong with the arguments, and where to read more."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()  # the help of the command
        return error.exit_code
    where = error.ctx.command_path if error.ctx else "unbraid"
    text = f"{error.format_message().rstrip('.')}. See `{where} --help`."
    return print_error(ValueError(text), error.exit_code, where)


def _explained(error: Exception) -> Exception:
    """The error as it is shown: what was not foreseen is called so."""
    # PyTorch reports a lack of memory as a RuntimeError of its own words.
    if "allocate memory" in str(error) or "out of memory" in str(error).lower():
        return MemoryError(
            "There is not enough memory. Use fewer latents, a smaller batch or smaller "
            "images."
        )
    from unbraid.foundation import UnbraidError, find_own_frame

    # ValueError and OSError are the parents of what we raise on bad input.
    foreseen = OSError | ValueError | ArithmeticError | MemoryError | UnbraidError
    if isinstance(error, foreseen):
        return error
    own = find_own_frame(error)
    if own:
        return RuntimeError(f"{type(error).__name__} in {own}: {error}")
    return RuntimeError(
        f"unexpected {type(error).__name__}: {error}. This is a fault of unbraid: "
        "please report it with what UNBRAID_TRACEBACK=1 shows."
    )


@contextlib.contextmanager
def _noted_interruption() -> Iterator[Callable[[], bool]]:
    """Give a function that says whether Ctrl-C was pressed in the block."""
    was_pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal was_pressed
        was_pressed = True
        if _is_importing(frame):
            # An exception in the middle of an import can abort the C++ code of torch.
            os._exit(print_error(_INTERRUPTED, 130))
        signal.default_int_handler(number, frame)

    previous = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    if previous is not signal.default_int_handler or not is_main:
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: was_pressed
    finally:
        signal.signal(signal.SIGINT, previous)


def _is_importing(frame: Any) -> bool:
    """Whether a frame runs within the import of a module."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False
