"""The plan of a discovery on disk, so that the same command goes on with it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.errors import CheckpointFormatError, NewerFormatError
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
        words = {
            "fingerprint": self.fingerprint,
            "asked": self.asked,
            "study": self.study.to_plain(),
            "seconds": self.seconds,
        }
        write_json(folder / "plan.json", words, kind=_KIND)


def read_plan(folder: Path) -> Plan | None:
    """What :meth:`Plan.write` wrote; ``None`` if there is nothing that can be read."""
    path = folder / "plan.json"
    if not path.is_file():
        return None
    try:
        words = read_json(path, kind=_KIND)
        return Plan(
            fingerprint=words["fingerprint"],
            asked=words["asked"],
            study=study_from_plain(words["study"], str(path)),
            seconds=float(words["seconds"]),
        )
    except NewerFormatError:
        raise
    except (CheckpointFormatError, LookupError, TypeError, ValueError):
        return None  # damaged: it is made anew, and finished runs are kept
