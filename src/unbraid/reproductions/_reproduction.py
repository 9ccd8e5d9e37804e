"""A published claim as something that can be run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from ._evidence import Evidence
from ._finding import Measured

Preset = Literal["smoke", "mini", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


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
