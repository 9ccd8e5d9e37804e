"""Arguments in, one library call, exit code out."""

from ._app import main

__all__ = ["main"]
