"""The folder of a study: which runs it has, and how far each of them is."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import pydantic

from unbraid.foundation import (
    CheckpointFormatError,
    NewerFormatError,
    atomic_write,
    expand_user,
    is_our_json,
    is_part,
    read_checked_json,
    set_aside,
    write_json,
    write_yaml,
)

from ._run_files import RunFiles, State
from ._specification import RunSpec
from ._study_file import parse_study, read_study_text
from ._sweep import Study

_DATA = "data of a study"


class _Data(pydantic.BaseModel):
    fingerprints: dict[str, str]


@dataclass(frozen=True)
class Cell:
    """Settings of one run of a study, and its files.

    Attributes:
        id: Id of the run, from its settings and the fingerprint of its data.
        spec: Settings of the run.
        files: Files of the run.
    """

    id: str
    spec: RunSpec
    files: RunFiles = field(compare=False)


@dataclass(frozen=True)
class _StudyFile:
    """A study, and whether its file has the text that unbraid writes."""

    study: Study
    is_ours: bool


class StudyFolder:
    """A study on disk.

    Every file is written as a whole, so that any process may be killed at any moment,
    and two may work in one folder at once. The study and its runs are read once, and
    not at all after :meth:`write`.

    Args:
        path: The folder; made when something is written.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = expand_user(path)
        self.study_file = self.path / "study.yaml"
        self.data_file = self.path / "data.json"
        self.table_file = self.path / "table.csv"
        self.runs = self.path / "runs"

    @classmethod
    def at(cls, path: "StudyFolder | str | os.PathLike[str]") -> "StudyFolder":
        """Return the folder at a path, or the folder itself if it is one already."""
        return path if isinstance(path, StudyFolder) else cls(path)

    @property
    def study(self) -> Study:
        """The study of the folder.

        Raises:
            FileNotFoundError: If the folder holds none.
        """
        return self._file.study

    @cached_property
    def _file(self) -> _StudyFile:
        if not self.study_file.is_file():
            raise FileNotFoundError(
                f"{str(self.path)!r} is not the folder of a study: it has no "
                "study.yaml. `unbraid study run STUDY.yaml` makes one."
            )
        text = read_study_text(self.study_file)
        study = parse_study(text, str(self.study_file))
        return _StudyFile(study, text == write_yaml(study.to_plain()))

    @cached_property
    def cells(self) -> list[Cell]:
        """Every run of the study, in the order of its file."""
        data = read_checked_json(self.data_file, kind=_DATA, shape=_Data)
        known = data.get("fingerprints", {})
        specs = self.study.runs()
        for spec in specs:
            if str(spec.data) not in known:
                raise CheckpointFormatError(
                    f"{self.data_file}: the fingerprint of {str(spec.data)!r} is "
                    "missing. `unbraid study run` adds it."
                )
        return self.cells_of(specs, known)

    def cells_of(
        self, specs: Sequence[RunSpec], fingerprints: Mapping[str, str]
    ) -> list[Cell]:
        """Return runs with the files that they have in this folder, or would have.

        Args:
            specs: Settings of the runs.
            fingerprints: Fingerprint of each dataset, by its name in the settings.
        """
        ids = [spec.id(fingerprints[str(spec.data)]) for spec in specs]
        return [
            Cell(id, spec, RunFiles(self.runs / id, id))
            for id, spec in zip(ids, specs, strict=True)
        ]

    def write(self, study: Study, fingerprints: Mapping[str, str]) -> None:
        """Make this the folder of a study, or bring its study up to date.

        Args:
            study: The study; runs that it shares with the last one are kept.
            fingerprints: Fingerprint of each dataset, by its name in the study.

        Raises:
            NewerFormatError: If a newer version wrote the folder.
            FileExistsError: If the folder holds something else, such as a study file
                that a person wrote.
        """
        self._claim(study)
        # The study first: a process that is killed after it finds its own folder.
        if not self._holds(study):
            with atomic_write(self.study_file) as file:
                file.write(write_yaml(study.to_plain()).encode())
            self.__dict__["_file"] = _StudyFile(study, is_ours=True)
        write_json(self.data_file, {"fingerprints": dict(fingerprints)}, kind=_DATA)
        self.runs.mkdir(exist_ok=True)
        self.__dict__["cells"] = self.cells_of(study.runs(), fingerprints)

    def _claim(self, study: Study) -> None:
        """Refuse a folder with files of somebody else; make room in one of ours."""
        if self.path.exists() and not self.path.is_dir():
            raise NotADirectoryError(
                f"study: {str(self.path)!r} is a file, not a folder. Choose another "
                "with --out."
            )
        found, is_same = self._read_file(), self._holds(study)
        is_ours = found is not None and found.is_ours
        if not is_ours and not is_our_json(self.data_file, kind=_DATA):
            self._require_free(is_same=is_same)
            return
        if not is_same and not is_ours:
            set_aside(self.study_file)  # damaged, or edited by hand
        for path in (self.data_file, self.table_file):
            if os.path.lexists(path) and not path.is_file():
                set_aside(path)
        if os.path.lexists(self.runs) and not self.runs.is_dir():
            set_aside(self.runs)

    def _require_free(self, *, is_same: bool) -> None:
        """Refuse a folder with files of somebody else in which no study has begun.

        Args:
            is_same: Whether a person wrote a file of this very study into the folder:
                then it stays, beside other files whose names are not needed.
        """
        own = (self.data_file, self.table_file, self.runs, self.path / "populations")
        for entry in sorted(self.path.iterdir()) if self.path.is_dir() else ():
            # What a call that was killed as it began may have left.
            is_left = is_part(entry.name) or (
                entry == self.runs and entry.is_dir() and not any(entry.iterdir())
            )
            is_harmless = entry not in own and is_same
            if not is_left and not is_harmless:
                raise FileExistsError(
                    f"study: the folder {str(self.path)!r} holds something else: "
                    f"{entry.name!r}. Choose a new folder with --out."
                )

    def _holds(self, study: Study) -> bool:
        """Whether the study file describes this study."""
        found = self._read_file()
        return found is not None and found.study.to_plain() == study.to_plain()

    def _read_file(self) -> _StudyFile | None:
        """Return the study of the folder; ``None`` if it cannot be read."""
        try:
            return self._file if self.study_file.is_file() else None
        except NewerFormatError:
            raise
        except (OSError, ValueError):
            return None

    def states(self) -> dict[str, State]:
        """Return how far every run is, by its id."""
        begun = set(os.listdir(self.runs)) if self.runs.is_dir() else set()
        return {
            cell.id: cell.files.state if cell.id in begun else "waiting"
            for cell in self.cells
        }


StudyPath = StudyFolder | str | Path | os.PathLike[str]
"""Folder of a study, or its path."""
