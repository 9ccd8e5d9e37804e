"""A population on disk: its generations, what is to be done, and who has won."""

import contextlib
import dataclasses
import json
import math
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pydantic
from numpy.typing import NDArray

from unbraid.data import open_cached
from unbraid.execution import Job, JobFiles, Outcome
from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    atomic_write,
    delete_own_files,
    locked,
    read_json,
    require_regular,
    set_aside,
    write_json,
)
from unbraid.models import Autoencoder
from unbraid.representation import Representation
from unbraid.training import (
    Run,
    TrainingSpec,
    TrainingState,
    join_segments,
    load,
    load_state,
    read_tensors,
    save_model,
    train_run,
)

from ._generations import first_generation, next_generation, require_alive, why_over
from ._lineage import Lineage, Member
from ._member_job import CODES, KIND, read_codes
from ._population_plan import PopulationPlan

_LINEAGE, _WINNER = "lineage of a population", "winner of a population"
_WAIT_SECONDS = 1.0
_FILES = ("lineage.json", "labels.npz", "reduction.json", "rows.npy", "scored.npy")
_FOLDERS = ("winner", "winner.part")


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
        try:
            self._read()
        except NewerFormatError:
            raise
        except (OSError, CheckpointFormatError):
            # Mended as soon as the population is held: another process may be at work.
            self.lineage = Lineage()
            self._begin()

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
                    self._mend()
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

    def record_outcome(self, job: Job, outcome: Outcome) -> list[Job]:
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
        return join_segments([self.plan.training_spec(m, model) for m in line])

    def winner(self) -> Autoencoder:
        """The best model of the best member of a complete population."""
        model = load(self.winner_folder)
        if not isinstance(model, Autoencoder):
            raise CheckpointFormatError(
                f"{self.winner_folder}: expected the winner of a population, got a "
                "linear model, which no population breeds."
            )
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
        if os.path.lexists(self.lineage_file):
            self.lineage = read_lineage(self.folder, id=self.plan.id)
        self._begin()

    def _mend(self) -> None:
        """Read what is there, and begin again if a file of it is damaged."""
        try:
            self._read()
            if not self.lineage.reason:
                self._check_starts()
            elif self.winner_folder.is_dir():
                self.winner()
            else:
                self._write_winner()  # killed between the two
        except NewerFormatError:
            raise
        except (FileNotFoundError, FileExistsError, CheckpointFormatError):
            # Breeding is repeatable: a damaged file costs time, and changes nothing.
            self._start_afresh()
            self._read()

    def _check_starts(self) -> None:
        """Read every state that the generation in progress begins with."""
        parents = {m.parent for m in self._members if m.parent is not None}
        for parent in parents:
            for model in range(self.plan.settings.models):
                place = self._place(len(self.lineage.generations) - 1, parent, model)
                read_tensors(place.training_state, kind="training state")

    def _start_afresh(self) -> None:
        """Move everything aside, within the folder, except the lock that is held."""
        aside = self.folder / "damaged"
        number = 1
        while os.path.lexists(aside):
            number += 1
            aside = self.folder / f"damaged-{number}"
        aside.mkdir(parents=True)
        for name in (*_FILES, *_FOLDERS):
            path = self.folder / name
            if os.path.lexists(path):
                path.rename(aside / name)
        for path in sorted(self.folder.glob("generation-*")):
            path.rename(aside / path.name)

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
            kind=KIND,
            folder=str(place.path),
            spec={
                "data": str(self.plan.run.data),
                "rows": rows,
                "scored": str(self.folder / "scored.npy"),
                "training": self.plan.training_spec(member, model).to_plain(),
                "start": start,
                "population": self.plan.id,
                "member": [member.place, model],
                "fingerprint": open_cached(self.plan.run.data).fingerprint,
            },
            device=self._device,
            steps=member.steps,
            description=_describe(member),
        )

    def _place(self, generation: int, place: int, model: int) -> JobFiles:
        folder = self.folder / f"generation-{generation:03d}"
        return JobFiles(folder / f"member-{place:03d}-model-{model}")

    def _write_rows(self) -> None:
        for name, rows in (("scored", self.plan.scored), ("rows", self.plan.rows)):
            path = self.folder / f"{name}.npy"
            if rows is not None and not _holds(path, rows):
                set_aside(path)
                with atomic_write(path) as file:
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
            delete_generation(folder, kept=kept)

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
        winner = self.member_model(generation, place, model)
        save_model(winner, beside, spec, run=self.plan.id)
        write_json(beside / "winner.json", words, kind=_WINNER)
        if os.path.lexists(self.winner_folder):
            set_aside(self.winner_folder)
        beside.rename(self.winner_folder)

    def _best_model(self, codes: Sequence[Representation]) -> int:
        each = getattr(self.plan.score, "each", None)
        return 0 if each is None else int(np.argmax(each(codes)))


def _describe(member: Member) -> str:
    """Return the hyperparameters of a member, for progress displays."""
    return " ".join(
        f"{path.rpartition('.')[2]}={value:g}"
        for path, value in member.hyperparameters.items()
    )


def _holds(path: Path, rows: NDArray[np.int64]) -> bool:
    """Whether a file holds these very rows."""
    try:
        return path.is_file() and np.array_equal(
            np.load(path, allow_pickle=False), rows
        )
    except (EOFError, OSError, ValueError):
        return False


def _read_codes(path: Path) -> Representation:
    codes = read_codes(path)
    if codes is None:
        set_aside(path)
        raise CheckpointFormatError(
            f"{path}: expected the codes of a model, got a file that is damaged. The "
            "same call makes it again."
        )
    return codes


def read_lineage(folder: Path, *, id: str | None = None) -> Lineage:
    """The lineage that the folder of a population keeps, as far as it is.

    Args:
        folder: Folder of the population.
        id: Id that the lineage must name; any when not given.

    Raises:
        CheckpointFormatError: If the file is damaged, or of another population.
    """
    path = folder / "lineage.json"
    require_regular(path)
    words = read_json(path, kind=_LINEAGE)
    if id is not None and words.get("id") != id:
        raise CheckpointFormatError(
            f"{path}: this is the lineage of a population with other settings or data."
        )
    try:
        lineage = Lineage.from_plain(words)
        _check_lineage(lineage, words)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: the lineage of a population is damaged ({error})."
        ) from error
    return lineage


_LINEAGE_TYPES = pydantic.TypeAdapter(Lineage)


def _check_lineage(lineage: Lineage, words: dict[str, Any]) -> None:
    """Refuse wrong types, and parents that are not there."""
    parts = {name: words[name] for name in ("generations", "reason")}
    _LINEAGE_TYPES.validate_json(json.dumps(parts), strict=True)
    before = 0
    for members in lineage.generations:
        for place, member in enumerate(members):
            is_known = member.parent is None or 0 <= member.parent < before
            if member.place != place or not is_known:
                raise ValueError(f"member {member.place} has no place or no parent")
        before = len(members)


def is_over(folder: Path) -> bool:
    """Whether the population of a folder is complete, and its winner is kept."""
    try:
        return (folder / "winner").is_dir() and bool(read_lineage(folder).reason)
    except (OSError, CheckpointFormatError):
        return False


def delete_generation(folder: Path, *, kept: str | None = None) -> int:
    """Delete the files of a generation's members, and their folders if empty then.

    Args:
        folder: Folder of the generation.
        kept: Prefix of the names of members that stay.

    Returns:
        How many files were deleted.
    """
    n_files = 0
    for place in sorted(folder.glob("member-*")):
        if kept is None or not place.name.startswith(kept):
            n_files += delete_own_files(place, (*JobFiles.names, CODES))
    with contextlib.suppress(OSError):  # it holds something else
        folder.rmdir()
    return n_files
