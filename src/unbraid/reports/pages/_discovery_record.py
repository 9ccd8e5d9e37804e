"""DiscoveryRecord: everything that the page of a discovery shows."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unbraid.data import AbstractDataset
from unbraid.foundation import read_json
from unbraid.models import Autoencoder
from unbraid.reports.figures._summaries import LatentTraversals
from unbraid.studies import RunRecord, Study, StudyFolder, read_records

from ._dynamics_block import TrainingPaths


@dataclass(frozen=True, eq=False)
class DiscoveryRecord:
    """A discovery as far as it has come, in memory.

    Model, data, traversals and paths are read or computed when the page needs them and
    they are not given.

    Attributes:
        folder: Folder of the discovery.
        plan: Content of ``plan.json``.
        result: Content of ``discovery.json``; ``None`` if there is no result yet.
        study: The study of the last round; ``None`` if nothing was trained yet.
        runs: Runs of the study.
        model: The chosen model.
        dataset: Data that the models were trained on.
        traversals: Traversals of the active latents of the chosen model.
        paths: Training dynamics of each configuration, by its name.
        result_folder: Folder of ``discovery.json`` and the chosen model; the folder of
            the discovery when not given.
    """

    folder: Path
    plan: dict[str, Any]
    result: dict[str, Any] | None = None
    study: Study | None = None
    runs: tuple[RunRecord, ...] = ()
    model: Autoencoder | None = None
    dataset: AbstractDataset | None = None
    traversals: LatentTraversals | None = None
    paths: Mapping[str, TrainingPaths] | None = None
    result_folder: Path | None = None

    @property
    def chosen(self) -> str | None:
        """Name of the chosen model, if one was chosen."""
        return None if self.result is None else self.result["ranking"]["chosen"]

    @property
    def result_file(self) -> Path:
        """The file with the result."""
        return (self.result_folder or self.folder) / "discovery.json"


def read_discovery(folder: Path, result_folder: Path | None = None) -> DiscoveryRecord:
    """Read a discovery from the files that it wrote.

    Args:
        folder: Folder of the discovery.
        result_folder: Folder of its result; the same folder when not given.

    Raises:
        CheckpointFormatError: If a file is damaged.
    """
    plan = read_json(folder / "plan.json", kind="plan of a discovery")
    study, runs = StudyFolder(folder / "study"), ()
    is_begun = study.study_file.is_file()
    if is_begun:
        runs = read_records(study)
    file = (result_folder or folder) / "discovery.json"
    is_over = is_begun and file.is_file()
    return DiscoveryRecord(
        folder=folder,
        plan=plan,
        result=read_json(file, kind="discovery") if is_over else None,
        study=study.study if is_begun else None,
        runs=runs,
        result_folder=result_folder,
    )
