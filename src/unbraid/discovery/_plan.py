"""The plan of a discovery on disk, so that the same command goes on with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.errors import NewerFormatError
from unbraid.studies import Study, study_from_plain
from unbraid.training._tensor_file import read_json, write_json

_KIND = "plan of a discovery"


@dataclass(frozen=True)
class Plan:
    """What a discovery was asked, and what it decided to do.

    Attributes:
        fingerprint: Of the data.
        asked: Budget and seed, as they were given.
        study: The runs.
        seconds: That they were expected to take.
    """

    fingerprint: str
    asked: dict[str, Any]
    study: Study
    seconds: float

    @property
    def n_realisations(self) -> int:
        """Runs of every specification."""
        return len({spec.seed for spec in self.study.runs()})

    @property
    def n_runs(self) -> int:
        """All runs."""
        return len(self.study.runs())

    @property
    def steps(self) -> int:
        """Of every run."""
        return self.study.runs()[0].training.steps

    def write(self, folder: Path) -> None:
        """Keep it in the folder of the discovery."""
        write_json(folder / "plan.json", self.to_plain(), kind=_KIND)

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "fingerprint": self.fingerprint,
            "asked": self.asked,
            "study": self.study.to_plain(),
            "seconds": self.seconds,
        }


def read_plan(folder: Path) -> Plan | None:
    """What :meth:`Plan.write` wrote; ``None`` if there is nothing that can be read.

    Raises:
        NewerFormatError: If a newer version wrote it.
    """
    path = folder / "plan.json"
    if not path.is_file():
        return None
    try:
        words = read_json(path, kind=_KIND)
        study = study_from_plain(words["study"], str(path))
        study.runs()  # meets what is wrong with their settings
        fingerprint, asked = words["fingerprint"], words["asked"]
        seconds = float(words["seconds"])
        if not isinstance(fingerprint, str) or not isinstance(asked, dict):
            return None
        return Plan(fingerprint, asked, study, seconds)
    except NewerFormatError:
        raise
    except (
        *(ArithmeticError, AttributeError, LookupError, RecursionError),
        *(TypeError, ValueError),
    ):
        return None  # damaged: it is made anew, and finished runs are kept
