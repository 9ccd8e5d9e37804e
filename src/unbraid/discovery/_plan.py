"""The plan of a discovery on disk, so that the same command continues it."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.foundation import NewerFormatError, Section, Whole, read_json, write_json
from unbraid.studies import Study, study_from_plain

_KIND = "plan of a discovery"


class Rung(Section):
    """One round of the race between configurations.

    Attributes:
        steps: Step up to which the runs of this round are trained.
        n_configurations: Configurations that take part.
        n_seeds: Runs of each configuration.
        seconds: Estimated duration.
    """

    steps: Whole
    n_configurations: Whole
    n_seeds: Whole
    seconds: float

    @property
    def description(self) -> str:
        """What is trained, as a phrase."""
        plural = "s" if self.n_configurations > 1 else ""
        return (
            f"{self.n_configurations} configuration{plural} with {self.n_seeds} seeds "
            f"{'each ' if plural else ''}up to step {self.steps:,}"
        )


class Standing(Section):
    """How a configuration stood at the end of a round.

    Attributes:
        name: Name of the configuration.
        score: Score by which it was judged; the higher, the better.
        agreement: Mean agreement between its seeds (UDR).
        chance: Agreement of the same codes with randomly rotated axes.
        elbo: Mean ELBO in nats per image; ``None`` if all of its runs failed.
        active_latents: Mean number of active latents; ``None`` likewise.
        is_kept: Whether it takes part in the next round.
    """

    name: str
    score: float
    agreement: float
    chance: float
    elbo: float | None
    active_latents: float | None
    is_kept: bool


@dataclass(frozen=True)
class Plan:
    """What a discovery was asked for, and the runs that it plans.

    Attributes:
        fingerprint: Fingerprint of the data.
        asked: Budget and seed, as they were given.
        study: Every run that may be trained: all configurations with all seeds. If
            there are rungs, its one ``zip`` lists the configurations.
        seconds: Estimated duration.
        rungs: Rounds of the race; empty if all runs are trained to their end.
        results: Standings at the end of each completed round but the last, in the
            order of the study.
        notes: Sentences for the report, such as why images were made smaller.
        factor: Number of pixels that become one in each direction; 1 leaves images as
            they are.
        finalists: Configurations that reach the last round in any case, because a
            smaller plan has finished their runs.
    """

    fingerprint: str
    asked: dict[str, Any]
    study: Study
    seconds: float
    rungs: tuple[Rung, ...] = ()
    results: tuple[tuple[Standing, ...], ...] = ()
    notes: tuple[str, ...] = ()
    factor: int = 1
    finalists: tuple[str, ...] = ()

    @property
    def n_configurations(self) -> int:
        """Configurations that are tried."""
        return self.n_runs // self.n_seeds

    @property
    def n_seeds(self) -> int:
        """Runs of every configuration that reaches the end."""
        return len({spec.seed for spec in self.study.runs()})

    @property
    def n_runs(self) -> int:
        """Runs of the study, most of which a race does not finish."""
        return len(self.study.runs())

    @property
    def steps(self) -> int:
        """Steps of a run that is trained to its end."""
        return self.study.runs()[0].training.steps

    @property
    def last_rung(self) -> int:
        """Number of the last round, counted from 0."""
        return max(len(self.rungs) - 1, 0)

    def rung_study(self, number: int) -> Study:
        """Return the runs of a round.

        Args:
            number: Number of the round, counted from 0.
        """
        if not self.rungs:
            return self.study
        kept = list(range(self.rungs[0].n_configurations))
        for standings in self.results[:number]:
            kept = [
                index
                for index, standing in zip(kept, standings, strict=True)
                if standing.is_kept
            ]
        (axes,) = self.study.sweep.zip
        plain = self.study.to_plain() | {
            "zip": [{path: [values[k] for k in kept] for path, values in axes.items()}],
            "seeds": self.study.sweep.seed_list[: self.rungs[number].n_seeds],
        }
        return study_from_plain(plain, "discovery")

    def with_result(self, standings: tuple[Standing, ...]) -> "Plan":
        """Return the plan after one more completed round."""
        return dataclasses.replace(self, results=(*self.results, standings))

    def write(self, folder: Path) -> None:
        """Write the plan to ``plan.json`` in the folder of the discovery."""
        write_json(folder / "plan.json", self.to_plain(), kind=_KIND)

    def to_plain(self) -> dict[str, Any]:
        """Return the plan as JSON can hold it."""
        return {
            "fingerprint": self.fingerprint,
            "asked": self.asked,
            "study": self.study.to_plain(),
            "seconds": self.seconds,
            "rungs": [rung.model_dump() for rung in self.rungs],
            "results": [
                [standing.model_dump() for standing in standings]
                for standings in self.results
            ],
            "notes": list(self.notes),
            "factor": self.factor,
            **({"finalists": list(self.finalists)} if self.finalists else {}),
        }


def read_plan(folder: Path) -> Plan | None:
    """Read the plan of a discovery.

    Args:
        folder: Folder of the discovery.

    Returns:
        The plan; ``None`` if there is none that can be read.

    Raises:
        NewerFormatError: If a newer version wrote it.
    """
    path = folder / "plan.json"
    if not path.is_file():
        return None
    try:
        content = read_json(path, kind=_KIND)
        study = study_from_plain(content["study"], str(path))
        fingerprint, asked = content["fingerprint"], content["asked"]
        if not isinstance(fingerprint, str) or not isinstance(asked, dict):
            return None
        if not isinstance(asked.get("seconds"), int | float | None):
            return None
        plan = Plan(
            fingerprint,
            asked,
            study,
            float(content["seconds"]),
            # Plans of the first versions have no rungs.
            tuple(Rung.read(rung, str(path)) for rung in content.get("rungs", ())),
            tuple(
                tuple(Standing.read(standing, str(path)) for standing in standings)
                for standings in content.get("results", ())
            ),
            tuple(str(note) for note in content.get("notes", ())),
            int(content.get("factor", 1)),
            tuple(str(name) for name in content.get("finalists", ())),
        )
        # Surfaces errors in the settings of runs and in the number of standings.
        for number in range(len(plan.results) + 1):
            plan.rung_study(number).runs()
        return plan
    except NewerFormatError:
        raise
    except (
        *(ArithmeticError, AttributeError, LookupError, RecursionError),
        *(TypeError, ValueError),
    ):
        return None  # damaged: it is made anew, and finished runs are kept
