"""Exceptions that a caller may want to catch; everything else is a builtin."""

import contextlib
from collections.abc import Iterator


class UnbraidError(Exception):
    """Parent of every error that unbraid defines."""


class DatasetNotFoundError(UnbraidError, FileNotFoundError):
    """A published file is not where it should be; the message says where to put it."""


class DownloadError(UnbraidError, OSError):
    """No mirror gave the file that was asked for; nothing was left on disk."""


class DataFormatError(UnbraidError, ValueError):
    """A file was read, but does not hold what its format promises."""


class NotEnoughMemoryError(UnbraidError, MemoryError):
    """The input asks for more memory than there is; nothing was computed."""


class TrainingDivergedError(UnbraidError, ArithmeticError):
    """A part of the loss became infinite or not a number.

    Attributes:
        step: At which it happened, counted from 0.
        terms: Names of the parts.
    """

    def __init__(self, *, step: int, terms: tuple[str, ...]) -> None:
        self.step, self.terms = step, terms
        super().__init__(
            f"training: expected a finite loss, got none at step {step} in "
            f"{', '.join(terms)}. Lower the learning rate, or the weight of that term; "
            "what was saved before stays."
        )


class CheckpointFormatError(UnbraidError, ValueError):
    """A saved model or state cannot be read, or belongs to other settings."""


class NewerFormatError(CheckpointFormatError):
    """A file was written by a newer version of unbraid, which can read it."""


class FolderInUseError(UnbraidError, OSError):
    """Another process is training in the folder of the run."""


@contextlib.contextmanager
def naming(culprit: str) -> Iterator[None]:
    """Put the name of an input in front of errors that do not mention it.

    Args:
        culprit: What the user typed: a path, a name or an option.

    Example:
        >>> with naming("points.npy"):
        ...     raise ValueError("expected two axes, got three.")
        Traceback (most recent call last):
        ValueError: points.npy: expected two axes, got three.
    """
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError, ArithmeticError) as error:
        # Errors of the operating system have several arguments and name their file.
        if len(error.args) == 1 and culprit not in str(error):
            error.args = (f"{culprit}: {error}",)
        raise
