"""Commands of other packages, found by entry points."""

from typing import Any

import typer
from typer.main import get_command

from unbraid.foundation import Catalog


def _read_command(offered: Any) -> Any:
    if not callable(offered):
        raise ValueError(f"{offered!r} is not a function")
    app = typer.Typer(add_completion=False)
    app.command()(offered)
    return get_command(app)


COMMANDS: Catalog[Any] = Catalog({}, group="unbraid.commands", read=_read_command)
"""Commands of Click by name."""
