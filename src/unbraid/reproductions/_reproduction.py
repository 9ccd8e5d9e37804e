"""A published claim as something that can be run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from ._evidence import Evidence
from ._finding import Measured

Preset = Literal["smoke", "mini", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


def require_preset(preset: str) -> None:
    """Raise ValueError unless it is one."""
    if preset not in PRESETS:
        raise ValueError(
            f"reproduce: expected a preset among {', '.join(PRESETS)}, got {preset!r}."
        )


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A claim, where it was made, and how it is measured.

    Args:
        name: Short, for the command line.
        source: Authors, year, and the number of the table or figure.
        claim: What was said, in one sentence of our own.
        measure: From the evidence to numbers.
        studies: Names of the studies that are the evidence, of
            :data:`unbraid.reproductions.STUDIES`; claims may share them.
    """

    name: str
    source: str
    claim: str
    measure: Callable[[Evidence], Measured]
    studies: tuple[str, ...] = ()
