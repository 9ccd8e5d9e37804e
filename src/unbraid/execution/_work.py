"""Doing one job, in the process that is called."""

import errno
import os
import pkgutil
import socket
from collections.abc import Callable
from pathlib import Path

import torch

from unbraid.foundation import UnbraidError, locked, write_json
from unbraid.training import keep_freed_memory

from ._job import Job, Outcome
from ._job_files import JobFiles

Report = Callable[[int, float], None]
"""Takes the number of steps done and the images per second."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
"""Environment of a worker, for libraries that read it only when they are loaded."""

_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE,
            errno.EIO, errno.ESTALE)  # fmt: skip
"""Errors of a full, read-only or broken disk, and of too many open files."""


class JobBlockedError(UnbraidError):
    """A job cannot be done now, for a reason that is not its own."""


def prepare_process() -> None:
    """Set up a worker process: one thread, and freed memory stays with the process."""
    torch.set_num_threads(1)
    keep_freed_memory()


def ignore_progress(step: int, images_per_second: float) -> None:
    """Report progress to nobody."""
    del step, images_per_second


def work(job: Job, report: Report = ignore_progress) -> Outcome:
    """Do a job, or continue it.

    Errors are not raised: those of the job are written into its folder, and all are
    part of the outcome.

    Args:
        job: The job.
        report: Is called with the progress.
    """
    files = JobFiles(Path(job.folder))
    try:
        with locked(files.lock) as is_ours:
            if not is_ours:
                return Outcome(job.id, "busy", "another process works on it")
            return _work(job, files, report)
    except KeyboardInterrupt:
        return Outcome(job.id, "interrupted")
    except (OSError, JobBlockedError) as error:
        # Not a fault of the job: on a healthy disk it would be done.
        return Outcome(job.id, "blocked", _in_one_line(error))


def _work(job: Job, files: JobFiles, report: Report) -> Outcome:
    try:
        function = pkgutil.resolve_name(job.kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise JobBlockedError(
            f"The kind of work {job.kind!r} is not known here ({error}). Install the "
            "same version of unbraid everywhere."
        ) from error
    files.failure.unlink(missing_ok=True)
    worker = {"pid": os.getpid(), "host": socket.gethostname()}
    write_json(files.worker, worker, kind="worker")
    try:
        function(job, report)
    except JobBlockedError:
        raise
    except (MemoryError, Exception) as error:
        if isinstance(error, OSError) and error.errno in _OUTSIDE:
            raise
        message = _in_one_line(error)
        files.write_failure(job.id, message, type(error).__name__)
        return Outcome(job.id, "failed", message)
    return Outcome(job.id, "done")


def _in_one_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return " ".join(text.split())
