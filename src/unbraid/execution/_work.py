"""Running one job in the current process."""

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
"""Function that takes the number of steps done and the images per second."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
)
"""Environment of a worker. Libraries read these variables only when loaded."""

_OUTSIDE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EMFILE, errno.ENFILE,
            errno.EIO, errno.ESTALE)  # fmt: skip
"""Errors of a full, read-only or broken disk, and of too many open files."""


class JobBlockedError(UnbraidError):
    """A job cannot run now, for a reason outside of the job."""


def prepare_process() -> None:
    """Set up a worker process: one thread, and freed memory stays with the process."""
    torch.set_num_threads(1)
    keep_freed_memory()


def ignore_progress(step: int, images_per_second: float) -> None:
    """Discard progress reports."""
    del step, images_per_second


def work(job: Job, report: Report = ignore_progress) -> Outcome:
    """Run a job, or continue it, and return how it ended.

    No errors are raised. The outcome describes them, and errors of the job itself are
    also written to its folder.

    Args:
        job: Job to run.
        report: Called with the progress.
    """
    files = JobFiles(Path(job.folder))
    try:
        with locked(files.lock) as is_ours:
            if not is_ours:
                return Outcome(job.id, "busy", "another process is working on it")
            return _work(job, files, report)
    except KeyboardInterrupt:
        return Outcome(job.id, "interrupted")
    except (OSError, JobBlockedError) as error:
        # Not the fault of the job: it would succeed on a healthy disk.
        return Outcome(job.id, "blocked", _format_in_one_line(error))


def _work(job: Job, files: JobFiles, report: Report) -> Outcome:
    try:
        function = pkgutil.resolve_name(job.kind)
    except (ImportError, AttributeError, ValueError) as error:
        raise JobBlockedError(
            f"Cannot import the function {job.kind!r} of the job ({error}). Install "
            "the same version of unbraid on all machines."
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
        message = _format_in_one_line(error)
        files.write_failure(job.id, message, type(error).__name__)
        return Outcome(job.id, "failed", message)
    return Outcome(job.id, "done")


def _format_in_one_line(error: BaseException) -> str:
    text = str(error).strip() or type(error).__name__
    return " ".join(text.split())
