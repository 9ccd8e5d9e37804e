"""A published claim that can be measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

from unbraid.foundation import check_option

from ._evidence import Evidence
from ._finding import Measured

Preset = Literal["smoke", "mini", "paper"]
PRESETS: tuple[Preset, ...] = get_args(Preset)


def require_preset(preset: str) -> None:
    """Raise an error if a preset is unknown."""
    check_option("preset", preset, PRESETS)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A published claim, its source, and how it is measured.

    Args:
        name: Short name for the command line.
        source: Authors, year, and the number of the table or figure.
        text: Claim in one sentence.
        measure: Function from the evidence to the measured numbers.
        studies: Names of the studies that the claim is measured on, keys of
            :data:`unbraid_claims.STUDIES`. Claims can share studies.
        paper_studies: Names of the studies at the preset ``"paper"``, where they differ
            from ``studies``.
        changed: Date of the last change to what is measured, as ``"YYYY-MM-DD"``. The
            page of findings marks older findings as outdated.
    """

    name: str
    source: str
    text: str
    measure: Callable[[Evidence], Measured]
    studies: tuple[str, ...] = ()
    paper_studies: tuple[str, ...] | None = None
    changed: str = ""

    def studies_at(self, preset: Preset) -> tuple[str, ...]:
        """Return the names of the studies for a preset."""
        if preset == "paper" and self.paper_studies is not None:
            return self.paper_studies
        return self.studies
