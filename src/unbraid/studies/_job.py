"""What a worker is told, and how it went."""

import errno
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from unbraid.training import keep_freed_memory
from unbraid.training._tensor_file import write_json

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
        kind: A whole ``run``, or a ``stretch`` of a member of a population.
        until: Step at which a run pauses with a preview; ``None`` trains and scores it.
    """

    id: str
    folder: str
    spec: dict[str, Any]
    fingerprint: str
    loggers: tuple[str, ...] = ()
    device: str = "cpu"
    kind: Literal["run", "stretch"] = "run"
    until: int | None = None

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


OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE,
            errno.EIO, errno.ESTALE)  # fmt: skip
"""Of a full, read-only or broken disk, and of too many open files."""


def fail(job: Job, place: RunPlace, error: BaseException) -> Outcome:
    """Write down why a run is worth nothing."""
    message = sentence(error)
    words = {"id": job.id, "error": message, "type": type(error).__name__}
    write_json(place.failure, words, kind="failure")
    return Outcome(job.id, "failed", message)


def fail_dead(job: Job, message: str) -> None:
    """Write down that a run takes its worker with it every time."""
    place = RunPlace(Path(job.folder))
    words = {"id": job.id, "error": message, "type": "WorkerDied"}
    write_json(place.failure, words, kind="failure")


def sentence(error: BaseException) -> str:
    """An error in one line."""
    text = str(error).strip() or type(error).__name__
    return " ".join(text.split())
