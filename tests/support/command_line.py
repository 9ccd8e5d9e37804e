"""The command line as an object, which tests call without starting a process."""

from unbraid.cli._app import app

__all__ = ["app"]
