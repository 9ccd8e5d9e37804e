"""The evidence for a claim: finished studies and cached results."""

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
    """Studies that a claim is measured on, and a cache for slow results.

    Args:
        preset: Size of the studies: ``"smoke"``, ``"mini"`` or ``"paper"``.
        folder: Folder for cached results.
        studies: Folder of each study, by name.
        revision: Version of the measure. Cached results of another version are computed
            again.
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
        """Return the argument that belongs to the preset."""
        return {"smoke": smoke, "mini": mini, "paper": paper}[self.preset]

    def table(self, name: str) -> pd.DataFrame:
        """Return a table of the finished runs of a study, one row per run.

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
        """Return the finished runs of a study, with settings and folders.

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
                f"The study {name} has no finished runs. To see why, run: unbraid "
                f"study status {self._studies[name]}"
            )

    def cached(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return a result, computed once and cached on disk.

        Args:
            name: Name of the result, unique within the claim.
            compute: Function that computes the result as JSON-compatible data.
        """
        path = self._folder / f"{name}.json"
        runs = [cell.id for study in self._studies for cell in self.cells(study)]
        try:
            record = read_json(path, kind="evidence") if path.is_file() else {}
        except CheckpointFormatError:
            record = {}
        # Results from other runs or another measure are not valid.
        made_from = {"runs": runs, "revision": self._revision}
        if {name: record.get(name, "") for name in made_from} != made_from:
            record = {**made_from, "result": compute()}
            write_json(path, record, kind="evidence")
        return record["result"]

    @cached_property
    def n_runs(self) -> int:
        """Number of finished runs of all studies."""
        return sum(len(self.table(name)) for name in self._studies)

    @property
    def n_seeds(self) -> int:
        """Smallest number of seeds of a study; 0 without studies."""
        counts = [len(set(self.table(name)["seed"])) for name in self._studies]
        return min(counts, default=0)

    @property
    def run_seconds(self) -> float:
        """Time of all runs one after another, from the times of their files.

        Uses the median per study, because interrupted runs seem to take long.
        """
        return sum(
            statistics.median(durations) * len(durations)
            for name in self._studies
            if (durations := [_seconds(cell) for cell in self.cells(name)])
        )


def _seconds(cell: Cell) -> float:
    start = cell.files.run if cell.files.run.is_file() else cell.files.scores
    return cell.files.scores.stat().st_mtime - start.stat().st_mtime
