"""A progress bar as a logger: loss, active latents and time left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .loggers import AbstractLogger


class ProgressBar(AbstractLogger):
    """Shows how far a run is, if the standard error is a terminal.

    Args:
        n_steps: Of the whole run.
    """

    def __init__(self, n_steps: int) -> None:
        self._n_steps = n_steps
        self._bar: tqdm | None = None

    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Draw the bar."""
        del settings, folder
        self._bar = tqdm(
            total=self._n_steps,
            initial=step,
            desc="training",
            unit="step",
            dynamic_ncols=True,
            disable=None,  # unless it is a terminal
        )

    def log(self, record: Mapping[str, Any]) -> None:
        """Move the bar."""
        if self._bar is None:
            return
        words = {"loss": f"{record['total']:.4g}"}
        if "active_latents" in record:
            words["active"] = str(record["active_latents"])
        self._bar.set_postfix(words, refresh=False)
        self._bar.update(record["step"] - self._bar.n)

    def close(self) -> None:
        """Leave the bar as it is."""
        if self._bar is not None:
            self._bar.close()
