"""One run of a study from beginning to end, in the process that is called."""

import errno
import os
import socket
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from unbraid.errors import CheckpointFormatError, NewerFormatError
from unbraid.locks import locked
from unbraid.training import keep_freed_memory, train_run
from unbraid.training._diagnosis import HISTORY_DAMAGED
from unbraid.training._tensor_file import write_json
from unbraid.training.loggers import AbstractLogger

from ._opened import OpenedData, opened
from ._scoring import score_run
from ._specification import RunSpec
from ._store import RunPlace

End = Literal["done", "failed", "busy", "interrupted", "blocked", "died"]


@dataclass(frozen=True)
class Job:
    """What a worker is told.

    Attributes:
        id: Of the run.
        folder: Where it is kept.
        spec: Of the run, as plain data.
        fingerprint: That its data must have.
        loggers: Names of loggers to report to.
        device: Where to compute.
    """

    id: str
    folder: str
    spec: dict[str, Any]
    fingerprint: str
    loggers: tuple[str, ...] = ()
    device: str = "cpu"

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_plain(cls, data: dict[str, Any]) -> "Job":
        """What :meth:`to_plain` wrote."""
        return cls(**{**data, "loggers": tuple(data["loggers"])})


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes:
        id: Of the run.
        end: ``done``; ``failed``, for a reason of its own that trying again would meet
            again; ``busy`` in another process; ``interrupted``; ``blocked`` by
            something outside, such as a full disk; or ``died`` with its worker.
        message: Why.
    """

    id: str
    end: End
    message: str = ""


ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
"""Environment of such a process, for libraries that look only when they are loaded."""


def prepare_process() -> None:
    """Set up a process whose work is runs: one thread, and memory that is kept."""
    torch.set_num_threads(1)
    keep_freed_memory()


def work(job: Job, loggers: Sequence[AbstractLogger] = ()) -> Outcome:
    """Train and score one run, or go on with it.

    What goes wrong with the run is written into its folder and told, never raised.

    Args:
        job: What to do.
        loggers: To report to, beside those that the job names.
    """
    place = RunPlace(Path(job.folder))
    try:
        with locked(place.lock) as is_ours:
            if not is_ours:
                return Outcome(job.id, "busy", "another process works on it")
            return _work(job, place, loggers)
    except KeyboardInterrupt:
        return Outcome(job.id, "interrupted")
    except OSError as error:
        # Not a fault of the run: the same run on a healthy disk would do.
        return Outcome(job.id, "blocked", _sentence(error))


def _work(job: Job, place: RunPlace, loggers: Sequence[AbstractLogger]) -> Outcome:
    if place.scores.is_file():
        return Outcome(job.id, "done")
    place.failure.unlink(missing_ok=True)
    worker = {"pid": os.getpid(), "host": socket.gethostname()}
    write_json(place.worker, worker, kind="worker")
    spec = RunSpec.read(job.spec, job.id)
    write_json(
        place.run,
        {"id": job.id, "spec": spec.to_plain(), "data": job.fingerprint},
        kind="study run",
    )
    try:
        data = opened(spec.data)
        if data.fingerprint != job.fingerprint:
            raise ValueError(
                f"{spec.data}: expected the data that the study began with, got other "
                "data. Run the study again."
            )
        scores = _train_and_score(spec, data, place, job, loggers)
    except (MemoryError, Exception) as error:
        if isinstance(error, OSError) and error.errno in _OUTSIDE:
            raise
        return _fail(job, place, error)
    write_json(place.scores, {"id": job.id, **scores}, kind="scores")
    return Outcome(job.id, "done")


_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE,
            errno.EIO, errno.ESTALE)  # fmt: skip
"""Of a full, read-only or broken disk, and of too many open files."""


def _train_and_score(
    spec: RunSpec,
    data: OpenedData,
    place: RunPlace,
    job: Job,
    loggers: Sequence[AbstractLogger],
) -> dict[str, Any]:
    training = spec.training
    statistics = data.statistics if training.standardise else None
    settings = spec.training_spec(data.dataset, statistics)

    def train() -> Any:
        return train_run(
            settings,
            data.dataset,
            device=job.device,
            out=place.path,
            traces=spec.trace_settings(),
            loggers=(*job.loggers, *loggers),
            log_every=training.log_every,
            progress=False,
        )

    try:
        run = train()
    except NewerFormatError:
        raise
    except CheckpointFormatError:
        # A damaged file costs the run its progress, and nobody anything else.
        _start_afresh(place)
        run = train()
    scores = score_run(run.model, data.dataset, spec.evaluation)
    # A history that was damaged since says nothing about the model.
    names = [warning.name for warning in run.warnings]
    warnings = [name for name in names if name != HISTORY_DAMAGED]
    return {**scores, "warnings": warnings}


_OF_TRAINING = (
    "spec.json",
    "status.json",
    "history.jsonl",
    "model.json",
    "model.safetensors",
    "state.safetensors",
    "traces.safetensors",
)


def _start_afresh(place: RunPlace) -> None:
    for name in _OF_TRAINING:
        (place.path / name).unlink(missing_ok=True)


def _fail(job: Job, place: RunPlace, error: BaseException) -> Outcome:
    message = _sentence(error)
    words = {"id": job.id, "error": message, "type": type(error).__name__}
    write_json(place.failure, words, kind="failure")
    return Outcome(job.id, "failed", message)


def fail_dead(job: Job, message: str) -> None:
    """Write down that a run takes its worker with it every time."""
    place = RunPlace(Path(job.folder))
    words = {"id": job.id, "error": message, "type": "WorkerDied"}
    write_json(place.failure, words, kind="failure")


def _sentence(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return " ".join(text.split())
