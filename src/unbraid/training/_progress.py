"""Progress bar with loss, active latents and time left."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from .loggers import AbstractLogger


class ProgressBar(AbstractLogger):
    """Progress bar of a run, shown if the standard error is a terminal.

    Args:
        n_steps: Number of steps of the run.
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
            disable=None,  # only shown in a terminal
        )

    def log(self, record: Mapping[str, Any]) -> None:
        """Advance the bar to the step of the record."""
        if self._bar is None:
            return
        shown = {"loss": f"{record['total']:.4g}"}
        if "active_latents" in record:
            shown["active"] = str(record["active_latents"])
        self._bar.set_postfix(shown, refresh=False)
        self._bar.update(record["step"] - self._bar.n)

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.close()
