"""What a command needs, for those of other packages too: options, output, progress.

A package adds a command by one line in its ``pyproject.toml``, which names a function
with the annotations of Typer::

    [project.entry-points."unbraid.commands"]
    measure = "their_package.command:measure"
"""

from ._console import complain, print_json, print_table
from ._data import JsonOption
from ._executor_options import (
    AddressOption,
    CpusOption,
    DeviceOption,
    ExecutorOption,
    GpusOption,
    WorkersOption,
    check_device,
    choose_executor,
)
from ._study import announce_cost
from ._study_view import StudyView

__all__ = [
    "AddressOption",
    "CpusOption",
    "DeviceOption",
    "ExecutorOption",
    "GpusOption",
    "JsonOption",
    "StudyView",
    "WorkersOption",
    "announce_cost",
    "check_device",
    "choose_executor",
    "complain",
    "print_json",
    "print_table",
]
