"""Exceptions that callers may want to catch; all others are builtin ones."""

import contextlib
from collections.abc import Iterator


class UnbraidError(Exception):
    """Parent of every error that unbraid defines."""


class DatasetNotFoundError(UnbraidError, FileNotFoundError):
    """A published file is missing; the message says where to put it."""


class DownloadError(UnbraidError, OSError):
    """No mirror delivered the file; nothing was left on disk."""


class DataFormatError(UnbraidError, ValueError):
    """The content of a file does not match its format."""


class NotEnoughMemoryError(UnbraidError, MemoryError):
    """The input needs more memory than is available; nothing was computed."""


class MissingExtraError(UnbraidError, ImportError):
    """An optional dependency is not installed; the message says how to install it."""


class TrainingDivergedError(UnbraidError, ArithmeticError):
    """A term of the loss became infinite or NaN.

    Attributes:
        step: Step at which it happened, counted from 0.
        terms: Names of the terms.
    """

    def __init__(self, *, step: int, terms: tuple[str, ...]) -> None:
        self.step, self.terms = step, terms
        super().__init__(
            f"Training diverged at step {step}: {', '.join(terms)} became infinite or "
            "NaN. Lower the learning rate or the weight of that term. What was saved "
            "before is kept."
        )


class CheckpointFormatError(UnbraidError, ValueError):
    """A saved model or state is damaged, or belongs to a run with other settings."""


class NewerFormatError(CheckpointFormatError):
    """A file was written by a newer version of unbraid."""


class FolderInUseError(UnbraidError, OSError):
    """Another process is training in the same run folder."""


@contextlib.contextmanager
def naming(source: str) -> Iterator[None]:
    """Put the name of an input in front of errors that do not mention it.

    Args:
        source: Path, name or option as the user typed it.

    Example:
        >>> with naming("points.npy"):
        ...     raise ValueError("the array has three axes.")
        Traceback (most recent call last):
        ValueError: points.npy: the array has three axes.
    """
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError, ArithmeticError) as error:
        # Errors of the operating system have several arguments and name their file.
        if len(error.args) == 1 and source not in str(error):
            error.args = (f"{source}: {error}",)
        raise
