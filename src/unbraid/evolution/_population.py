"""A population on disk: its generations, remaining jobs and winner."""

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

from ._generations import (
    find_end_reason,
    first_generation,
    next_generation,
    require_alive,
)
from ._lineage import Lineage, Member
from ._member_job import CODES, KIND, read_codes
from ._population_plan import PopulationPlan

_LINEAGE, _WINNER = "lineage of a population", "winner of a population"
_WAIT_SECONDS = 1.0
_FILES = ("lineage.json", "labels.npz", "reduction.json", "rows.npy", "scored.npy")
_FOLDERS = ("winner", "winner.part")


class Population:
    """A population in training.

    The caller runs the jobs and calls :meth:`record_outcome` when one has ended. After
    the last job of a generation, the lineage is written and the next generation starts.
    The same plan in the same folder continues.

    Args:
        plan: Plan of the population.
        folder: Folder of the population, created with the first file.
        device: Device on which each model is trained.
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
            # Repaired once the lock is held: another process may be writing.
            self.lineage = Lineage()
            self._start_generation()

    @property
    def lineage_file(self) -> Path:
        """File with all finished generations."""
        return self.folder / "lineage.json"

    @property
    def is_over(self) -> bool:
        """Whether the population is finished."""
        return bool(self.lineage.reason) and self.winner_folder.is_dir()

    @property
    def winner_folder(self) -> Path:
        """Folder of the best model, written when the population is finished."""
        return self.folder / "winner"

    @contextlib.contextmanager
    def lock(self) -> Iterator[None]:
        """Wait for the lock of the population, and hold it."""
        while True:
            with locked(self.folder / "population.lock") as is_ours:
                if is_ours:
                    self._repair()
                    yield
                    return
            time.sleep(_WAIT_SECONDS)

    @property
    def n_jobs(self) -> int:
        """Number of jobs, if the population takes all generations."""
        return self.plan.settings.n_trainings

    @property
    def n_jobs_left(self) -> int:
        """Number of jobs in generations that are not finished."""
        if self.lineage.reason:
            return 0
        done = sum(len(members) for members in self.lineage.generations)
        return self.n_jobs - done * self.plan.settings.models

    def jobs(self) -> list[Job]:
        """Return the jobs of the current generation that have not ended."""
        if self.is_over:
            return []
        self._write_rows()
        jobs = []
        for member in self._members:
            for model in range(len(member.seeds)):
                if (member.index, model) not in self._ended:
                    jobs.append(self._make_job(member, model))
        # Small batches take longest, so they go first.
        jobs.sort(key=lambda job: job.spec["training"]["batch_size"])
        return jobs

    def record_outcome(self, job: Job, outcome: Outcome) -> list[Job]:
        """Record how a job ended.

        Returns:
            Jobs of the next generation, if this one is finished and not the last.
        """
        if outcome.end not in ("done", "failed"):
            return []
        index, model = job.spec["member"]
        self._ended[index, model] = outcome.message if outcome.end == "failed" else ""
        member = self._members[index]
        own = [self._ended.get((index, k)) for k in range(len(member.seeds))]
        if None not in own:
            self._scored[index] = self._score(member, next(filter(None, own), ""))
        if len(self._scored) < len(self._members):
            return []
        self._complete()
        return self.jobs()

    def member_codes(self, generation: int, index: int) -> list[Representation]:
        """Return the codes of a member's models on the scored rows.

        They are kept for the last generation and the best member only.
        """
        return self._codes(generation, self.lineage.generations[generation][index])

    def _codes(self, generation: int, member: Member) -> list[Representation]:
        return [
            _read_codes(self._job_files(generation, member.index, k).path / CODES)
            for k in range(len(member.seeds))
        ]

    def member_model(self, generation: int, index: int, model: int) -> Autoencoder:
        """Return a model of a member as of the end of its generation."""
        member = self.lineage.generations[generation][index]
        state = TrainingState.create(self.plan.training_spec(member, model))
        path = self._job_files(generation, index, model).training_state
        load_state(state, path, run_id=self.plan.id)
        return state.model.eval()

    def schedule(self, generation: int, index: int, model: int) -> TrainingSpec:
        """Return the settings of a single run that leads to the same model."""
        line = self.lineage.ancestry(generation, index)
        return join_segments([self.plan.training_spec(m, model) for m in line])

    def winner(self) -> Autoencoder:
        """Return the best model of the best member of a finished population."""
        model = load(self.winner_folder)
        if not isinstance(model, Autoencoder):
            raise CheckpointFormatError(
                f"{self.winner_folder} holds a linear model, which cannot be the "
                "winner of a population."
            )
        return model

    def replay(self, out: Path | None = None) -> Run:
        """Train the winner again as a single run from new weights."""
        record = read_json(self.winner_folder / "winner.json", kind=_WINNER)
        return train_run(
            TrainingSpec.from_plain(record["schedule"]),
            self.plan.dataset,
            device=self._device,
            out=out,
            progress=False,
        )

    def _read(self) -> None:
        self.lineage, self._ended, self._scored = Lineage(), {}, {}
        if os.path.lexists(self.lineage_file):
            self.lineage = read_lineage(self.folder, id=self.plan.id)
        self._start_generation()

    def _repair(self) -> None:
        """Read the files of the population, and start again if one is damaged."""
        try:
            self._read()
            if not self.lineage.reason:
                self._check_starts()
            elif self.winner_folder.is_dir():
                self.winner()
            else:
                self._write_winner()  # killed before the winner was written
        except NewerFormatError:
            raise
        except (FileNotFoundError, FileExistsError, CheckpointFormatError):
            # Training is deterministic: a damaged file costs time but changes nothing.
            self._start_again()
            self._read()

    def _check_starts(self) -> None:
        """Read every state from which the current generation starts."""
        parents = {m.parent for m in self._members if m.parent is not None}
        for parent in parents:
            for model in range(self.plan.settings.models):
                files = self._job_files(
                    len(self.lineage.generations) - 1, parent, model
                )
                read_tensors(files.training_state, kind="training state")

    def _start_again(self) -> None:
        """Move all files except the lock into a subfolder for damaged files."""
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

    def _start_generation(self) -> None:
        """Set up the members of the current generation."""
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

    def _make_job(self, member: Member, model: int) -> Job:
        number = len(self.lineage.generations)
        files = self._job_files(number, member.index, model)
        files.path.parent.mkdir(parents=True, exist_ok=True)
        start = None
        if member.parent is not None:
            parent = self._job_files(number - 1, member.parent, model)
            start = str(parent.training_state)
        rows = None if self.plan.rows is None else str(self.folder / "rows.npy")
        return Job(
            id=f"{files.path.parent.name}/{files.path.name}",
            kind=KIND,
            folder=str(files.path),
            spec={
                "data": str(self.plan.run.data),
                "rows": rows,
                "scored": str(self.folder / "scored.npy"),
                "training": self.plan.training_spec(member, model).to_plain(),
                "start": start,
                "population": self.plan.id,
                "member": [member.index, model],
                "fingerprint": open_cached(self.plan.run.data).fingerprint,
            },
            device=self._device,
            steps=member.steps,
            description=_describe(member),
        )

    def _job_files(self, generation: int, index: int, model: int) -> JobFiles:
        folder = self.folder / f"generation-{generation:03d}"
        return JobFiles(folder / f"member-{index:03d}-model-{model}")

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
        members = tuple(self._scored[index] for index in sorted(self._scored))
        require_alive(members)
        lineage = Lineage((*self.lineage.generations, members))
        reason = find_end_reason(self.plan.settings, lineage)
        self.lineage = dataclasses.replace(lineage, reason=reason)
        record = {"id": self.plan.id, **self.lineage.to_plain()}
        write_json(self.lineage_file, record, kind=_LINEAGE)
        self._delete_old_states()
        if reason:
            self._write_winner()
        self._start_generation()

    def _delete_old_states(self) -> None:
        """Delete states that no member starts from. Training is deterministic."""
        best = self.lineage.winner
        for number in range(len(self.lineage.generations) - 1):
            folder = self.folder / f"generation-{number:03d}"
            kept = f"member-{best[1]:03d}-" if number == best[0] else None
            delete_generation(folder, kept=kept)

    def _write_winner(self) -> None:
        generation, index = self.lineage.winner
        model = self._find_best_model(self.member_codes(generation, index))
        spec = self.schedule(generation, index, model)
        record = {
            "generation": generation,
            "member": index,
            "model": model,
            "score": self.lineage.generations[generation][index].score,
            "schedule": spec.to_plain(),
        }
        # Renamed when complete, so that the folder never exists in part.
        part = self.folder / "winner.part"
        shutil.rmtree(part, ignore_errors=True)
        winner = self.member_model(generation, index, model)
        save_model(winner, part, spec, run=self.plan.id)
        write_json(part / "winner.json", record, kind=_WINNER)
        if os.path.lexists(self.winner_folder):
            set_aside(self.winner_folder)
        part.rename(self.winner_folder)

    def _find_best_model(self, codes: Sequence[Representation]) -> int:
        each = getattr(self.plan.score, "each", None)
        return 0 if each is None else int(np.argmax(each(codes)))


def _describe(member: Member) -> str:
    """Return the hyperparameters of a member, for progress displays."""
    return " ".join(
        f"{path.rpartition('.')[2]}={value:g}"
        for path, value in member.hyperparameters.items()
    )


def _holds(path: Path, rows: NDArray[np.int64]) -> bool:
    """Return whether a file holds the given rows."""
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
            f"The codes in {path} are damaged. The same call computes them again."
        )
    return codes


def read_lineage(folder: Path, *, id: str | None = None) -> Lineage:
    """Return the lineage of the population in a folder, finished or not.

    Args:
        folder: Folder of the population.
        id: Expected id of the population. Default: any id.

    Raises:
        CheckpointFormatError: If the file is damaged or of another population.
    """
    path = folder / "lineage.json"
    require_regular(path)
    record = read_json(path, kind=_LINEAGE)
    if id is not None and record.get("id") != id:
        raise CheckpointFormatError(
            f"{path}: this is the lineage of a population with other settings or data. "
            "Choose another folder."
        )
    try:
        lineage = Lineage.from_plain(record)
        _check_lineage(lineage, record)
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise CheckpointFormatError(
            f"{path}: the file is damaged: the lineage of the population cannot be "
            f"read ({error}). Restore it from a copy, or choose another folder."
        ) from error
    return lineage


_LINEAGE_TYPES = pydantic.TypeAdapter(Lineage)


def _check_lineage(lineage: Lineage, record: dict[str, Any]) -> None:
    """Raise an error for wrong types and missing parents."""
    parts = {name: record[name] for name in ("generations", "reason")}
    _LINEAGE_TYPES.validate_json(json.dumps(parts), strict=True)
    before = 0
    for members in lineage.generations:
        for index, member in enumerate(members):
            is_known = member.parent is None or 0 <= member.parent < before
            if member.index != index or not is_known:
                raise ValueError(f"member {member.index} has a wrong index or parent")
        before = len(members)


def is_over(folder: Path) -> bool:
    """Return whether the population in a folder is finished and has a winner."""
    try:
        return (folder / "winner").is_dir() and bool(read_lineage(folder).reason)
    except (OSError, CheckpointFormatError):
        return False


def delete_generation(folder: Path, *, kept: str | None = None) -> int:
    """Delete the files of the members of a generation, and the emptied folders.

    Args:
        folder: Folder of the generation.
        kept: Prefix of the names of members to keep.

    Returns:
        Number of deleted files.
    """
    n_files = 0
    for member in sorted(folder.glob("member-*")):
        if kept is None or not member.name.startswith(kept):
            n_files += delete_own_files(member, (*JobFiles.names, CODES))
    with contextlib.suppress(OSError):  # it holds other files
        folder.rmdir()
    return n_files
