"""What a claim is measured on: finished studies, and results that are kept."""

import statistics
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from unbraid.foundation import CheckpointFormatError, read_json, write_json
from unbraid.studies import Cell, StudyFolder, study_table

from ._tables import rows_where


class Evidence:
    """Studies by name, and a folder for what takes long to compute.

    Args:
        preset: ``"smoke"``, ``"mini"`` or ``"paper"``.
        folder: Where the reproduction keeps its own results.
        studies: Folder of each study, by name.
        revision: Version of what the claim measures; results of another version are
            computed again.
    """

    def __init__(
        self,
        preset: str,
        folder: Path,
        studies: Mapping[str, Path],
        *,
        revision: str = "",
    ) -> None:
        self.preset = preset
        self._revision = revision
        self._folder = folder
        self._studies = dict(studies)
        self._tables: dict[str, pd.DataFrame] = {}

    def at(self, *, smoke: Any, mini: Any, paper: Any) -> Any:
        """The value that belongs to the preset."""
        return {"smoke": smoke, "mini": mini, "paper": paper}[self.preset]

    def table(self, name: str) -> pd.DataFrame:
        """Finished runs of a study, one row each.

        Raises:
            ValueError: If no run has finished.
        """
        if name not in self._tables:
            table = study_table(self._studies[name])
            done = rows_where(table, "status", "done")
            self._require_some(name, len(done))
            self._tables[name] = done
        return self._tables[name]

    def cells(self, name: str) -> list[Cell]:
        """Finished runs of a study, with their settings and folders.

        Raises:
            ValueError: If no run has finished.
        """
        folder = StudyFolder(self._studies[name])
        done = [cell for cell in folder.cells if cell.files.state == "done"]
        self._require_some(name, len(done))
        return done

    def _require_some(self, name: str, n_done: int) -> None:
        if not n_done:
            raise ValueError(
                f"{name}: expected finished runs, got none. Why: unbraid study status "
                f"{self._studies[name]}"
            )

    def kept(self, name: str, compute: Callable[[], Any]) -> Any:
        """A result as plain data, computed once and kept for the next call.

        Args:
            name: Of the result; another for each that differs.
            compute: Makes it.
        """
        path = self._folder / f"{name}.json"
        runs = [cell.id for study in self._studies for cell in self.cells(study)]
        try:
            found = read_json(path, kind="evidence") if path.is_file() else {}
        except CheckpointFormatError:
            found = {}
        # Of other runs, or by another measure, it would be another result.
        made_from = {"runs": runs, "revision": self._revision}
        if {name: found.get(name, "") for name in made_from} != made_from:
            found = {**made_from, "result": compute()}
            write_json(path, found, kind="evidence")
        return found["result"]

    @cached_property
    def n_runs(self) -> int:
        """Finished runs of all studies."""
        return sum(len(self.table(name)) for name in self._studies)

    @property
    def n_seeds(self) -> int:
        """Seeds of the study that has the fewest; 0 without studies."""
        counts = [len(set(self.table(name)["seed"])) for name in self._studies]
        return min(counts, default=0)

    @property
    def run_seconds(self) -> float:
        """What all runs took one after another, from the times of their files.

        Medians times numbers, as a run that was interrupted seems to take long.
        """
        return sum(
            statistics.median(durations) * len(durations)
            for name in self._studies
            if (durations := [_seconds(cell) for cell in self.cells(name)])
        )


def _seconds(cell: Cell) -> float:
    begun = cell.files.run if cell.files.run.is_file() else cell.files.scores
    return cell.files.scores.stat().st_mtime - begun.stat().st_mtime
