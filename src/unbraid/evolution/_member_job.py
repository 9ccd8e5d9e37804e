"""One model of a population for one generation, in the process that is called."""

import zipfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, DataSpec, Subset, open_cached
from unbraid.execution import Job, JobBlockedError, JobFiles, Report
from unbraid.foundation import CheckpointFormatError, deferred_interruption, set_aside
from unbraid.representation import Representation, encode
from unbraid.training import Snapshot, TrainingSpec, train_segment

CODES = "codes.npz"
"""What the model makes of the rows that are scored; written last."""


KIND = "unbraid.evolution:train_member"
"""Kind of the jobs of a population."""


def train_member(job: Job, report: Report) -> None:
    """Train a model for one generation from its parent's state, and encode images.

    Args:
        job: Job from ``Population.jobs``.
        report: Is called with the progress.

    Raises:
        JobBlockedError: If the parent's state is damaged.
        KeyboardInterrupt: After Ctrl-C.
    """
    files = JobFiles(Path(job.folder))
    files.set_damaged_aside()
    codes = read_codes(files.path / CODES)
    if codes is not None and np.array_equal(codes.rows, _scored(job)):
        return
    set_aside(files.path / CODES)
    data = open_cached(DataSpec.parse(job.spec["data"]))
    if data.fingerprint != job.spec["fingerprint"]:
        raise ValueError(
            f"{job.spec['data']}: the data have changed since the population began."
        )
    try:
        _train(job, files, data.dataset, report)
    except CheckpointFormatError as error:
        # Not the member's fault, and it must not change what becomes of it.
        raise JobBlockedError(str(error)) from error


def _train(
    job: Job,
    files: JobFiles,
    dataset: AbstractDataset,
    report: Report,
) -> None:
    words = job.spec
    start = None if words["start"] is None else Path(words["start"])

    def notify(snapshot: Snapshot) -> None:
        report(snapshot.step, snapshot.images_per_second)

    with deferred_interruption() as is_interrupted:
        state = train_segment(
            TrainingSpec.from_plain(words["training"]),
            _part(dataset, words["rows"]),
            start=start,
            out=files.training_state,
            population=words["population"],
            device=job.device,
            is_interrupted=is_interrupted,
            notify=notify,
        )
    codes = encode(state.model, dataset, rows=_scored(job), progress=False)
    codes.save(files.path / CODES)


def read_codes(path: Path) -> Representation | None:
    """Codes that a model was scored by; ``None`` if they cannot be read."""
    if not path.is_file():
        return None
    try:
        return Representation.load(path)
    except (
        *(AttributeError, EOFError, LookupError, OSError, RuntimeError, TypeError),
        *(ValueError, zipfile.BadZipFile, zlib.error),
    ):
        return None


def _scored(job: Job) -> NDArray[np.int64]:
    """Rows of the dataset on which the model is scored."""
    return np.load(job.spec["scored"], allow_pickle=False)


def _part(dataset: AbstractDataset, rows: str | None) -> AbstractDataset:
    if rows is None:
        return dataset
    return Subset(dataset, np.load(rows, allow_pickle=False))
