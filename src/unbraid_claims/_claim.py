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
class Claim:
    """A claim, where it was made, and how it is measured.

    Args:
        name: Short, for the command line.
        source: Authors, year, and the number of the table or figure.
        text: What was said, in one sentence of our own.
        measure: From the evidence to numbers.
        studies: Names of the studies that are the evidence, of
            :data:`unbraid_claims.STUDIES`; claims may share them.
        paper_studies: Names of the studies at the preset ``"paper"``, where they differ
            from ``studies``.
        changed: Date of the last change to what is measured, as ``"YYYY-MM-DD"``. The
            page of findings marks stored findings from before that day as outdated.
    """

    name: str
    source: str
    text: str
    measure: Callable[[Evidence], Measured]
    studies: tuple[str, ...] = ()
    paper_studies: tuple[str, ...] | None = None
    changed: str = ""

    def studies_at(self, preset: Preset) -> tuple[str, ...]:
        """Names of the studies that are the evidence at a preset."""
        if preset == "paper" and self.paper_studies is not None:
            return self.paper_studies
        return self.studies
