"""Logger for Weights & Biases."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.foundation import import_extra

from ._base import AbstractLogger, flatten_record


class WandbLogger(AbstractLogger):
    """Reports runs to a project of Weights & Biases.

    Args:
        project: Name of the project.
        options: Further options of ``wandb.init``.
    """

    def __init__(self, project: str = "unbraid", **options: Any) -> None:
        self._project, self._options = project, options
        self._run: Any = None

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Open a run with the settings."""
        del step
        options = {"dir": str(folder)} if folder else {}
        wandb = import_extra("wandb", "wandb")
        self._run = wandb.init(
            project=self._project, config=dict(settings), **(options | self._options)
        )

    def log(self, record: Mapping[str, Any]) -> None:
        """Add a point to every curve."""
        self._run.log(flatten_record(record), step=record["step"])

    def close(self) -> None:
        """End the run."""
        if self._run is not None:
            self._run.finish()
