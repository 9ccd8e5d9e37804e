"""A population on disk: its generations, what is to be done, and who has won."""

import contextlib
import dataclasses
import math
import shutil
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unbraid.errors import CheckpointFormatError
from unbraid.files import written_whole
from unbraid.locks import locked
from unbraid.models import Autoencoder
from unbraid.representation import Representation
from unbraid.selection import (
    Lineage,
    Member,
    first_generation,
    next_generation,
)
from unbraid.selection._population_based import require_alive, why_over
from unbraid.training import (
    Run,
    TrainingSpec,
    TrainingState,
    join_stretches,
    load,
    save_model,
    train_run,
)
from unbraid.training._checkpoint import load_state
from unbraid.training._tensor_file import read_json, write_json

from ._job import Job, Outcome
from ._opened import opened
from ._population_plan import PopulationPlan
from ._store import RunPlace
from ._stretch import CODES, work_stretch

_LINEAGE, _WINNER = "lineage of a population", "winner of a population"
_WAIT_SECONDS = 1.0


class Population:
    """A population in training.

    Whatever executes its jobs calls :meth:`settle` when one has ended; when the last of
    a generation has, the lineage is written and the next generation begins. The same
    plan in the same folder goes on where it was.

    Args:
        plan: What is bred.
        folder: Where; made when something is written.
        device: Where each model computes.
    """

    def __init__(
        self, plan: PopulationPlan, folder: Path, *, device: str = "cpu"
    ) -> None:
        self.plan, self.folder, self._device = plan, folder.resolve(), device
        self._read()

    @property
    def lineage_file(self) -> Path:
        """All complete generations."""
        return self.folder / "lineage.json"

    @property
    def is_over(self) -> bool:
        """Whether nothing is left to be done."""
        return bool(self.lineage.reason) and self.winner_folder.is_dir()

    @property
    def winner_folder(self) -> Path:
        """The best model, when the population is complete."""
        return self.folder / "winner"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Wait until no other process works on the population, and keep them off."""
        while True:
            with locked(self.folder / "population.lock") as is_ours:
                if is_ours:
                    self._read()
                    yield
                    return
            time.sleep(_WAIT_SECONDS)

    @property
    def n_jobs(self) -> int:
        """Models times generations, if it takes all generations."""
        return self.plan.settings.n_trainings

    @property
    def n_jobs_left(self) -> int:
        """Of these, those of generations that are not complete."""
        if self.lineage.reason:
            return 0
        done = sum(len(members) for members in self.lineage.generations)
        return self.n_jobs - done * self.plan.settings.models

    def jobs(self) -> list[Job]:
        """Models of the generation in progress that are not trained yet."""
        if self.is_over:
            return []
        self._write_rows()
        found = []
        for member in self._members:
            for model in range(len(member.seeds)):
                if (member.place, model) not in self._ended:
                    found.append(self._job(member, model))
        # Small batches take longest: they come first, so that none is waited for.
        found.sort(key=lambda job: job.spec["training"]["batch_size"])
        return found

    def settle(self, job: Job, outcome: Outcome) -> list[Job]:
        """Take note of how a job ended.

        Returns:
            Jobs of the next generation, if this one is complete and not the last.
        """
        if outcome.end not in ("done", "failed"):
            return []
        place, model = job.spec["member"]
        self._ended[place, model] = outcome.message if outcome.end == "failed" else ""
        member = self._members[place]
        own = [self._ended.get((place, k)) for k in range(len(member.seeds))]
        if None not in own:
            self._scored[place] = self._score(member, next(filter(None, own), ""))
        if len(self._scored) < len(self._members):
            return []
        self._complete()
        return self.jobs()

    def member_codes(self, generation: int, place: int) -> list[Representation]:
        """Codes of a member's models on the scored rows, if they are still there."""
        return self._codes(generation, self.lineage.generations[generation][place])

    def _codes(self, generation: int, member: Member) -> list[Representation]:
        return [
            _read_codes(self._place(generation, member.place, k).path / CODES)
            for k in range(len(member.seeds))
        ]

    def member_model(self, generation: int, place: int, model: int) -> Autoencoder:
        """A model of a member, as it was at the end of its generation."""
        member = self.lineage.generations[generation][place]
        state = TrainingState.create(self.plan.training_spec(member, model))
        path = self._place(generation, place, model).training_state
        load_state(state, path, run_id=self.plan.id)
        return state.model.eval()

    def schedule(self, generation: int, place: int, model: int) -> TrainingSpec:
        """The ordinary run that leads to a model, with all changes on the way."""
        line = self.lineage.ancestry(generation, place)
        return join_stretches([self.plan.training_spec(m, model) for m in line])

    def winner(self) -> Autoencoder:
        """The best model of the best member of a complete population."""
        model = load(self.winner_folder)
        assert isinstance(model, Autoencoder)
        return model

    def replay(self, out: Path | None = None) -> Run:
        """Train the winner once more, as one ordinary run from fresh weights."""
        words = read_json(self.winner_folder / "winner.json", kind=_WINNER)
        return train_run(
            TrainingSpec.from_plain(words["schedule"]),
            self.plan.dataset,
            device=self._device,
            out=out,
            progress=False,
        )

    def _read(self) -> None:
        self.lineage, self._ended, self._scored = Lineage(), {}, {}
        if self.lineage_file.is_file():
            words = read_json(self.lineage_file, kind=_LINEAGE)
            if words.get("id") != self.plan.id:
                raise CheckpointFormatError(
                    f"{self.lineage_file}: expected a new folder or one of this "
                    "population, got one of a population with other settings or data. "
                    "Choose another folder."
                )
            self.lineage = Lineage.from_plain(words)
        self._begin()
        if self.lineage.reason and not self.winner_folder.is_dir():
            self._write_winner()  # killed between the two

    def _begin(self) -> None:
        """The members of the generation in progress, and what is done of it."""
        self._ended: dict[tuple[int, int], str] = {}
        self._scored: dict[int, Member] = {}
        if self.lineage.reason:
            self._members: tuple[Member, ...] = ()
            return
        plan = self.plan
        common: dict[str, Any] = {
            "n_images": plan.n_images,
            "batch_size": plan.run.training.batch_size,
            "seed": plan.run.seed,
        }
        if not self.lineage.generations:
            self._members = first_generation(plan.settings, **common)
        else:
            self._members = next_generation(plan.settings, self.lineage, **common)

    def _job(self, member: Member, model: int) -> Job:
        number = len(self.lineage.generations)
        place = self._place(number, member.place, model)
        place.path.parent.mkdir(parents=True, exist_ok=True)
        start = None
        if member.parent is not None:
            start = str(self._place(number - 1, member.parent, model).training_state)
        rows = None if self.plan.rows is None else str(self.folder / "rows.npy")
        return Job(
            id=f"{place.path.parent.name}/{place.path.name}",
            folder=str(place.path),
            spec={
                "data": self.plan.run.data,
                "rows": rows,
                "scored": str(self.folder / "scored.npy"),
                "training": self.plan.training_spec(member, model).to_plain(),
                "start": start,
                "population": self.plan.id,
                "member": [member.place, model],
            },
            fingerprint=opened(self.plan.run.data).fingerprint,
            device=self._device,
            kind="stretch",
        )

    def _place(self, generation: int, place: int, model: int) -> RunPlace:
        folder = self.folder / f"generation-{generation:03d}"
        return RunPlace(folder / f"member-{place:03d}-model-{model}")

    def _write_rows(self) -> None:
        for name, rows in (("scored", self.plan.scored), ("rows", self.plan.rows)):
            path = self.folder / f"{name}.npy"
            if rows is not None and not path.is_file():
                with written_whole(path) as file:
                    np.save(file, rows)

    def _score(self, member: Member, failure: str) -> Member:
        score = None
        if not failure:
            codes = self._codes(len(self.lineage.generations), member)
            try:
                score = float(self.plan.score(codes))
            except ValueError as error:
                failure = f"no score: {error}"
            if score is not None and not math.isfinite(score):
                score, failure = None, f"no score: {score}"
        return dataclasses.replace(member, score=score, failure=failure)

    def _complete(self) -> None:
        members = tuple(self._scored[place] for place in sorted(self._scored))
        require_alive(members)
        lineage = Lineage((*self.lineage.generations, members))
        reason = why_over(self.plan.settings, lineage)
        self.lineage = dataclasses.replace(lineage, reason=reason)
        words = {"id": self.plan.id, **self.lineage.to_plain()}
        write_json(self.lineage_file, words, kind=_LINEAGE)
        self._forget_old()
        if reason:
            self._write_winner()
        self._begin()

    def _forget_old(self) -> None:
        """Delete states that nobody will begin with; a replay can make them again."""
        best = self.lineage.winner
        for number in range(len(self.lineage.generations) - 1):
            folder = self.folder / f"generation-{number:03d}"
            kept = f"member-{best[1]:03d}-" if number == best[0] else None
            for place in sorted(folder.glob("member-*")):
                if kept is None or not place.name.startswith(kept):
                    shutil.rmtree(place, ignore_errors=True)
            if kept is None:
                shutil.rmtree(folder, ignore_errors=True)

    def _write_winner(self) -> None:
        generation, place = self.lineage.winner
        model = self._best_model(self.member_codes(generation, place))
        spec = self.schedule(generation, place, model)
        words = {
            "generation": generation,
            "member": place,
            "model": model,
            "score": self.lineage.generations[generation][place].score,
            "schedule": spec.to_plain(),
        }
        # Written beside its place, so that the folder is there when all of it is.
        beside = self.folder / "winner.part"
        shutil.rmtree(beside, ignore_errors=True)
        save_model(self.member_model(generation, place, model), beside, spec)
        write_json(beside / "winner.json", words, kind=_WINNER)
        beside.rename(self.winner_folder)

    def _best_model(self, codes: Sequence[Representation]) -> int:
        each = getattr(self.plan.score, "each", None)
        return 0 if each is None else int(np.argmax(each(codes)))


def _read_codes(path: Path) -> Representation:
    try:
        return Representation.load(path)
    except (zipfile.BadZipFile, zlib.error, EOFError, LookupError, ValueError) as error:
        path.unlink(missing_ok=True)
        raise CheckpointFormatError(
            f"{path}: expected the codes of a model, got a file that is damaged. The "
            "same call makes it again."
        ) from error


def read_lineage(folder: Path) -> Lineage:
    """The lineage that the folder of a population keeps, as far as it is."""
    return Lineage.from_plain(read_json(folder / "lineage.json", kind=_LINEAGE))


def grow_here(population: Population) -> Population:
    """Breed a population in this process, one model after another.

    Raises:
        KeyboardInterrupt: After Ctrl-C; the same call goes on.
        OSError: If something outside blocks it.
    """
    with population.held():
        jobs = population.jobs()
        while jobs:
            later: list[Job] = []
            for job in jobs:
                outcome = work_stretch(job, RunPlace(Path(job.folder)))
                if outcome.end == "blocked":
                    raise OSError(f"population: {outcome.message}")
                later = population.settle(job, outcome)
            jobs = later
    return population
