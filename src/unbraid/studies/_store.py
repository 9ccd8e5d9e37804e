"""The folder of a study: which runs it has, and how far each of them is."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import pydantic

from unbraid.execution import JobFiles
from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    atomic_write,
    expand_user,
    is_locked,
    is_our_json,
    is_part,
    read_checked_json,
    set_aside,
    write_json,
    write_yaml,
)
from unbraid.training import read_model_hash, read_weight_hashes

from ._specification import RunSpec
from ._sweep import Study, read_study

_DATA = "data of a study"

State = Literal["done", "failed", "running", "begun", "waiting"]


class _Score(pydantic.BaseModel):
    value: float | None


class _Scores(pydantic.BaseModel):
    id: str = ""
    model: str | None = None
    scores: dict[str, _Score]
    fit: dict[str, float | None]
    failures: dict[str, str] = {}
    warnings: list[str]
    evolution: dict[str, Any] = {}


class _Data(pydantic.BaseModel):
    fingerprints: dict[str, str]


class RunFiles(JobFiles):
    """Files of one run of a study.

    Args:
        path: Folder of the run.
        id: Id of the run; the one in its folder when not given.
    """

    names = (
        *JobFiles.names,
        *("run.json", "scores.json", "spec.json", "status.json", "lock"),
        *("recursion.json", "model.json", "model.safetensors", "traces.safetensors"),
    )

    def __init__(self, path: Path, id: str = "") -> None:
        super().__init__(path)
        self._id = id

    @property
    def run(self) -> Path:
        """Settings."""
        return self.path / "run.json"

    @property
    def scores(self) -> Path:
        """What it is worth; there when it is done."""
        return self.path / "scores.json"

    def preview(self, step: int) -> Path:
        """Fit of a run that paused at a step; written after its codes."""
        return self.path / f"preview-{step}.json"

    def preview_codes(self, step: int) -> Path:
        """Codes of a run that paused at a step."""
        return self.path / f"preview-{step}.npz"

    def preview_files(self) -> tuple[str, ...]:
        """Names of all previews of the run."""
        return tuple(path.name for path in self.path.glob("preview-*"))

    @property
    def state(self) -> State:
        """How far the run is, from which files there are."""
        if self.scores.is_file():
            return "done"
        # Before the failure: it may be on its way to a second try.
        if is_locked(self.lock):
            return "running"
        if self.failure.is_file():
            return "failed"
        return "begun" if self.training_state.is_file() else "waiting"

    def set_damaged_aside(self) -> None:
        """Rename what cannot be read or is of another run, so that it is made again.

        Raises:
            NewerFormatError: If a newer version wrote it.
        """
        for name in ("model.json", "model.safetensors"):
            path = self.path / name
            if os.path.lexists(path) and not path.is_file():
                set_aside(self.scores)  # so that the model is trained again
        super().set_damaged_aside()
        try:
            self._check_scores()
        except NewerFormatError:
            raise
        except CheckpointFormatError:
            set_aside(self.scores)

    def _check_scores(self) -> None:
        """Refuse scores that cannot be read, or whose model cannot."""
        if self.read_scores():
            read_model_hash(self.path)

    def read_scores(self) -> dict[str, Any]:
        """What the run is worth.

        Raises:
            CheckpointFormatError: If the file is damaged, or if it belongs to another
                run or to another model than the one beside it.
        """
        found = read_checked_json(self.scores, kind="scores", shape=_Scores)
        if not found:
            return found
        owner = self._find_id()
        if owner and found.get("id", owner) != owner:
            raise CheckpointFormatError(
                f"{self.scores}: these scores belong to run {found['id']}, not to "
                f"{owner}. `unbraid study run` computes the run again."
            )
        known = found.get("model")
        # Scores of the first versions name no model; a pruned run has none, and one
        # that cannot be read says nothing about its scores.
        if known is not None and read_weight_hashes(self.path) - {known}:
            raise CheckpointFormatError(
                f"{self.scores}: these scores belong to another model than the one "
                "beside them. `unbraid study run` computes the run again."
            )
        return found

    def _find_id(self) -> str:
        """Id of the run, as far as it is known."""
        if self._id:
            return self._id
        try:
            found = read_checked_json(self.run, kind="study run").get("id")
        except CheckpointFormatError:
            return ""
        return found if isinstance(found, str) else ""


@dataclass(frozen=True)
class Cell:
    """One run of a study, and where it is."""

    id: str
    spec: RunSpec
    files: RunFiles = field(compare=False)


class StudyFolder:
    """A study on disk.

    Every file is written whole or not at all, so that any process may be killed at any
    moment, and two may work in one folder at once.

    Args:
        path: The folder; made when something is written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = expand_user(path)
        self.study_file = self.path / "study.yaml"
        self.data_file = self.path / "data.json"
        self.table_file = self.path / "table.csv"
        self.runs = self.path / "runs"

    @cached_property
    def study(self) -> Study:
        """What the study is.

        Raises:
            FileNotFoundError: If the folder holds none.
        """
        if not self.study_file.is_file():
            raise FileNotFoundError(
                f"study: expected the folder of a study, got {str(self.path)!r}, which "
                "has no study.yaml. `unbraid study run STUDY.yaml` makes one."
            )
        return read_study(self.study_file)

    @cached_property
    def cells(self) -> list[Cell]:
        """Every run of the study, in the order of its file."""
        data = read_checked_json(self.data_file, kind=_DATA, shape=_Data)
        known = data.get("fingerprints", {})
        specs = self.study.runs()
        for spec in specs:
            if str(spec.data) not in known:
                raise CheckpointFormatError(
                    f"{self.data_file}: expected the fingerprint of "
                    f"{str(spec.data)!r}, got none. `unbraid study run` puts it there."
                )
        return self.cells_of(specs, known)

    def cells_of(
        self, specs: Sequence[RunSpec], fingerprints: Mapping[str, str]
    ) -> list[Cell]:
        """Where runs are, or would be."""
        names = [spec.id(fingerprints[str(spec.data)]) for spec in specs]
        return [
            Cell(name, spec, RunFiles(self.runs / name, name))
            for name, spec in zip(names, specs, strict=True)
        ]

    def write(self, study: Study, fingerprints: Mapping[str, str]) -> None:
        """Make this the folder of a study, or bring its study up to date.

        Args:
            study: What is wanted now; runs that it shares with the last one are kept.
            fingerprints: Of each dataset by what the study calls it.

        Raises:
            CheckpointFormatError: If the folder is that of a newer version.
            FileExistsError: If it holds something else, such as a study file that a
                person wrote.
        """
        self._claim(study)
        # The study first: whoever is killed after it finds that the folder is its own.
        if not self.study_file.is_file() or not self._is_study(study):
            with atomic_write(self.study_file) as file:
                file.write(write_yaml(study.to_plain()).encode())
        write_json(self.data_file, {"fingerprints": dict(fingerprints)}, kind=_DATA)
        self.runs.mkdir(exist_ok=True)
        for name in ("study", "cells"):
            self.__dict__.pop(name, None)

    def _claim(self, study: Study) -> None:
        """Refuse the folder of somebody else; make room in one that is ours."""
        if self.path.exists() and not self.path.is_dir():
            raise NotADirectoryError(
                f"study: {str(self.path)!r} is a file, not a folder. Choose another "
                "with --out."
            )
        is_wanted, is_written = self._is_study(study), self._is_written_by_us()
        if not is_written and not is_our_json(self.data_file, kind=_DATA):
            self._require_free(is_wanted=is_wanted)
            return
        if not is_wanted and not is_written:
            set_aside(self.study_file)  # damaged, or edited by hand
        for path in (self.data_file, self.table_file):
            if os.path.lexists(path) and not path.is_file():
                set_aside(path)
        if os.path.lexists(self.runs) and not self.runs.is_dir():
            set_aside(self.runs)

    def _require_free(self, *, is_wanted: bool) -> None:
        """Refuse files of somebody else where no study has begun.

        Args:
            is_wanted: Whether there is a file of this very study, which a person wrote:
                it stays as it is, beside whatever else we do not write.
        """
        own = (self.data_file, self.table_file, self.runs, self.path / "populations")
        for entry in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            # What a call that was killed as it began may have left.
            is_left = is_part(entry.name) or (
                entry == self.runs and entry.is_dir() and not any(entry.iterdir())
            )
            is_harmless = entry not in own and is_wanted
            if not is_left and not is_harmless:
                raise FileExistsError(
                    f"study: the folder {str(self.path)!r} holds something else: "
                    f"{entry.name!r}. Choose a new folder with --out."
                )

    def _is_study(self, study: Study) -> bool:
        """Whether the study file says this study; not, if it cannot be read."""
        try:
            return self.study.to_plain() == study.to_plain()
        except NewerFormatError:
            raise
        except (OSError, ValueError):
            return False

    def _is_written_by_us(self) -> bool:
        """Whether the study file is as we would write it, and not as a person did."""
        try:
            written = write_yaml(self.study.to_plain()).encode()
            return self.study_file.read_bytes() == written
        except NewerFormatError:
            raise
        except (OSError, ValueError):
            return False

    def states(self) -> dict[str, State]:
        """How far every run is, by id."""
        begun = set(os.listdir(self.runs)) if self.runs.is_dir() else set()
        return {
            cell.id: cell.files.state if cell.id in begun else "waiting"
            for cell in self.cells
        }

    def counts(self) -> Counter[State]:
        """Number of runs in each state."""
        return Counter(self.states().values())
