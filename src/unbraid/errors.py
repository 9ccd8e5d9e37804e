"""Exceptions that a caller may want to catch; everything else is a builtin."""


class UnbraidError(Exception):
    """Parent of every error that unbraid defines."""


class DatasetNotFoundError(UnbraidError, FileNotFoundError):
    """A published file is not where it should be; the message says where to put it."""


class DownloadError(UnbraidError, OSError):
    """No mirror gave the file that was asked for; nothing was left on disk."""


class DataFormatError(UnbraidError, ValueError):
    """A file was read, but does not hold what its format promises."""
