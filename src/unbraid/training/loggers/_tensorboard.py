"""Logger for TensorBoard."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.foundation import import_extra

from ._base import AbstractLogger, flatten_record


class TensorBoardLogger(AbstractLogger):
    """Writes curves for ``tensorboard --logdir``.

    Args:
        folder: Folder to write to; if not given, ``tensorboard`` in the run folder.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = folder
        self._writer: Any = None

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Open the file, and drop what an interrupted run wrote after this step."""
        del settings
        tensorboard = import_extra("torch.utils.tensorboard", "tensorboard")
        path = self._folder or (folder / "tensorboard" if folder else "tensorboard")
        self._writer = tensorboard.SummaryWriter(str(path), purge_step=step)

    def log(self, record: Mapping[str, Any]) -> None:
        """Add a point to every curve."""
        for name, value in flatten_record(record).items():
            self._writer.add_scalar(name, value, record["step"])

    def close(self) -> None:
        """Write and close the file."""
        if self._writer is not None:
            self._writer.close()
