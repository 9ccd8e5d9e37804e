"""Reports to TensorBoard."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unbraid.foundation import import_extra

from ._base import AbstractLogger, numbers_of


class TensorBoardLogger(AbstractLogger):
    """Writes curves for ``tensorboard --logdir``.

    Args:
        folder: Where to; ``tensorboard`` within the folder of the run when not given.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self._folder = folder
        self._writer: Any = None

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Open the file; what a broken run wrote past the step is dropped."""
        del settings
        tensorboard = import_extra("torch.utils.tensorboard", "tensorboard")
        place = self._folder or (folder / "tensorboard" if folder else "tensorboard")
        self._writer = tensorboard.SummaryWriter(str(place), purge_step=step)

    def log(self, record: Mapping[str, Any]) -> None:
        """One point of every curve."""
        for name, value in numbers_of(record).items():
            self._writer.add_scalar(name, value, record["step"])

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()
