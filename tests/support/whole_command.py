"""The command line as a user meets it, without the seconds that a new process takes."""

import contextlib
import io
import sys
from types import SimpleNamespace
from unittest.mock import patch

from unbraid.cli import main


def run_whole(*arguments):
    """Exit code and output of ``unbraid`` with its own handling of errors."""
    output, errors = io.StringIO(), io.StringIO()
    code = 0
    with (
        patch.object(sys, "argv", ["unbraid", *map(str, arguments)]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code
    return SimpleNamespace(
        returncode=code, stdout=output.getvalue(), stderr=errors.getvalue()
    )
