"""One model of a population for one generation, in the process that is called."""

import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unbraid.data import AbstractDataset, Subset
from unbraid.errors import CheckpointFormatError
from unbraid.files import set_aside
from unbraid.representation import Representation, encode
from unbraid.training import Snapshot, TrainingSpec, train_stretch
from unbraid.training._interruption import deferred_interruption
from unbraid.training.loggers import AbstractLogger

from ._job import OUTSIDE, Job, Outcome, fail
from ._opened import opened
from ._store import RunPlace

CODES = "codes.npz"
"""What the model makes of the rows that are scored; written last."""


def work_stretch(
    job: Job, place: RunPlace, loggers: Sequence[AbstractLogger] = ()
) -> Outcome:
    """Train a model from its parent's state, and encode what is scored.

    Args:
        job: Of a member of a population; see ``Population.jobs``.
        place: Where state and codes go.
        loggers: Told how it gets on.

    Raises:
        KeyboardInterrupt: After Ctrl-C.
        OSError: If the disk is full or broken.
    """
    place.set_damaged_aside()
    codes = read_codes(place.path / CODES)
    if codes is not None and np.array_equal(codes.rows, _scored(job)):
        return Outcome(job.id, "done")
    set_aside(place.path / CODES)
    place.failure.unlink(missing_ok=True)
    try:
        data = opened(job.spec["data"])
        if data.fingerprint != job.fingerprint:
            raise ValueError(
                f"{job.spec['data']}: expected the data that the population began "
                "with, got other data."
            )
        _train(job, place, data.dataset, loggers)
    except CheckpointFormatError as error:
        # Not the member's fault, and it must not change what becomes of it.
        return Outcome(job.id, "blocked", str(error))
    except (MemoryError, Exception) as error:
        if isinstance(error, OSError) and error.errno in OUTSIDE:
            raise
        return fail(job, place, error)
    return Outcome(job.id, "done")


def _train(
    job: Job,
    place: RunPlace,
    dataset: AbstractDataset,
    loggers: Sequence[AbstractLogger],
) -> None:
    words = job.spec
    start = None if words["start"] is None else Path(words["start"])

    def hear(snapshot: Snapshot) -> None:
        rate = snapshot.images_per_second
        for logger in loggers:
            logger.log({"step": snapshot.step, "images_per_second": rate})

    with deferred_interruption() as is_interrupted:
        state = train_stretch(
            TrainingSpec.from_plain(words["training"]),
            _part(dataset, words["rows"]),
            start=start,
            out=place.training_state,
            population=words["population"],
            device=job.device,
            is_interrupted=is_interrupted,
            hear=hear,
        )
    codes = encode(state.model, dataset, rows=_scored(job), progress=False)
    codes.save(place.path / CODES)


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
