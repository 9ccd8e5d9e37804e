"""The folder of a study: which runs it has, and how far each of them is."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from unbraid.errors import CheckpointFormatError, NewerFormatError
from unbraid.files import written_whole
from unbraid.locks import is_locked
from unbraid.paths import expand_user
from unbraid.training._tensor_file import read_json, write_json
from unbraid.yaml_text import write_yaml

from ._specification import RunSpec
from ._sweep import Study, read_study

State = Literal["done", "failed", "running", "begun", "waiting"]


class RunPlace:
    """Files of one run of a study.

    Args:
        path: Its folder, named by the run's id.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run(self) -> Path:
        """Settings."""
        return self.path / "run.json"

    @property
    def scores(self) -> Path:
        """What it is worth; there when it is done."""
        return self.path / "scores.json"

    @property
    def failure(self) -> Path:
        """Why it is worth nothing."""
        return self.path / "failure.json"

    @property
    def worker(self) -> Path:
        """Who works on it, or did."""
        return self.path / "worker.json"

    @property
    def lock(self) -> Path:
        """Held by whoever works on it."""
        return self.path / "work.lock"

    @property
    def training_state(self) -> Path:
        """From which training goes on."""
        return self.path / "state.safetensors"

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

    def forget_damaged(self) -> None:
        """Delete a result that cannot be read, so that it is computed again."""
        for path, kind in ((self.scores, "scores"), (self.failure, "failure")):
            try:
                _read(path, kind)
            except NewerFormatError:
                raise
            except CheckpointFormatError:
                path.unlink(missing_ok=True)

    def read_failure(self) -> dict[str, Any]:
        """Why there are no scores."""
        return _read(self.failure, "failure")

    def read_scores(self) -> dict[str, Any]:
        """What the run is worth."""
        return _read(self.scores, "scores")


@dataclass(frozen=True)
class Cell:
    """One run of a study, and where it is."""

    id: str
    spec: RunSpec
    place: RunPlace = field(compare=False)


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
        known = _read(self.data_file, "data of a study").get("fingerprints", {})
        specs = self.study.runs()
        for spec in specs:
            if spec.data not in known:
                raise CheckpointFormatError(
                    f"{self.data_file}: expected the fingerprint of {spec.data!r}, got "
                    "none. `unbraid study run` puts it there."
                )
        return self.cells_of(specs, known)

    def cells_of(
        self, specs: Sequence[RunSpec], fingerprints: Mapping[str, str]
    ) -> list[Cell]:
        """Where runs are, or would be."""
        names = [spec.id(fingerprints[spec.data]) for spec in specs]
        return [
            Cell(name, spec, RunPlace(self.runs / name))
            for name, spec in zip(names, specs, strict=True)
        ]

    def write(self, study: Study, fingerprints: Mapping[str, str]) -> None:
        """Make this the folder of a study, or bring its study up to date.

        Args:
            study: What is wanted now; runs that it shares with the last one are kept.
            fingerprints: Of each dataset by what the study calls it.

        Raises:
            CheckpointFormatError: If the folder is that of a newer version.
            FileExistsError: If it holds something else.
        """
        if self.study_file.is_file():
            _ = self.study  # a newer format is not written over
        elif self.path.exists() and any(self.path.iterdir()):
            raise FileExistsError(
                f"study: expected a new folder or that of a study, got "
                f"{str(self.path)!r}, which holds something else. Choose another with "
                "--out."
            )
        self.runs.mkdir(parents=True, exist_ok=True)
        write_json(
            self.data_file, {"fingerprints": dict(fingerprints)}, kind="data of a study"
        )
        with written_whole(self.study_file) as file:
            file.write(write_yaml(study.to_plain()).encode())
        for name in ("study", "cells"):
            self.__dict__.pop(name, None)

    def states(self) -> dict[str, State]:
        """How far every run is, by id."""
        begun = set(os.listdir(self.runs)) if self.runs.is_dir() else set()
        return {
            cell.id: cell.place.state if cell.id in begun else "waiting"
            for cell in self.cells
        }

    def counts(self) -> Counter[State]:
        """Number of runs in each state."""
        return Counter(self.states().values())


def _read(path: Path, kind: str) -> dict[str, Any]:
    if not path.is_file():
        return {}
    return read_json(path, kind=kind)
