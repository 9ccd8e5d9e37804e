"""What a logger is: told of the start, of every record, and of the end."""

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any


class AbstractLogger(abc.ABC):
    """Reports a run to somewhere.

    A logger only listens: it never changes a number.
    """

    @abc.abstractmethod
    def start(
        self, settings: Mapping[str, Any], *, step: int, folder: Path | None
    ) -> None:
        """A run begins, or goes on.

        Args:
            settings: Of the run, as plain data.
            step: At which it stands.
            folder: Of the run, if it has one.
        """

    @abc.abstractmethod
    def log(self, record: Mapping[str, Any]) -> None:
        """A record of the history, with its ``"step"``."""

    def close(self) -> None:
        """The run has ended, or broken off."""
        return


def numbers_of(record: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of a record by name; those of latents as ``kl/0``, ``kl/1`` and so on."""
    numbers = {}
    for name, value in record.items():
        if name == "kl_per_latent":
            numbers |= {f"kl/{latent}": part for latent, part in enumerate(value)}
        elif name != "step":
            numbers[name] = value
    return numbers


def flat_settings(settings: Mapping[str, Any], start: str = "") -> dict[str, Any]:
    """Nested settings with names such as ``objective.beta``.

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
