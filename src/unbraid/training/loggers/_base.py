"""AbstractLogger, the interface of loggers."""

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class AbstractLogger(abc.ABC):
    """Base class of loggers, which report a run and never change its results."""

    @abc.abstractmethod
    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """Start to report a run, or a resumed run.

        Args:
            settings: Settings of the run, as plain data.
            step: Current step.
            folder: Folder of the run, if it has one.
        """

    @abc.abstractmethod
    def log(self, record: Mapping[str, Any]) -> None:
        """Report a record of the history, with its ``"step"``."""

    def close(self) -> None:
        """Stop to report, after the run has ended or was interrupted."""
        return


def flatten_record(record: Mapping[str, Any]) -> dict[str, float]:
    """Return the numbers of a record by name; those of latents are ``kl/0``, ..."""
    numbers = {}
    for name, value in record.items():
        if name == "kl_per_latent":
            numbers |= {f"kl/{latent}": part for latent, part in enumerate(value)}
        elif name != "step":
            numbers[name] = value
    return numbers


def flat_settings(settings: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """Return nested settings with names such as ``objective.beta``.

    Example:
        >>> flat_settings({"objective": {"name": "vae"}, "steps": 5})
        {'objective.name': 'vae', 'steps': 5}
    """
    flat = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= flat_settings(value, f"{start}{name}.")
        else:
            flat[f"{start}{name}"] = value
    return flat
