"""What a command needs, for those of other packages too: options, output, progress.

A package adds a command by one line in its ``pyproject.toml``, which names a function
with the annotations of Typer::

    [project.entry-points."unbraid.commands"]
    measure = "their_package.command:measure"
"""

from ._console import print_error, print_json, print_table
from ._data import JsonOption
from ._executor_options import (
    DeviceOption,
    ExecutorOptions,
    add_executor_options,
    check_device,
)
from ._interruption import report_interruption, resumable
from ._study_run import announce_cost
from ._study_view import StudyView

__all__ = [
    "DeviceOption",
    "ExecutorOptions",
    "JsonOption",
    "StudyView",
    "add_executor_options",
    "announce_cost",
    "check_device",
    "print_error",
    "print_json",
    "print_table",
    "report_interruption",
    "resumable",
]
