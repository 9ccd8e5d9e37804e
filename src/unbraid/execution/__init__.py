"""Work in other processes: jobs, queues, executors and observers."""

from ._executor import AbstractExecutor, Jobs
from ._inline import InlineExecutor
from ._job import Job, Outcome
from ._job_files import JobFiles
from ._local import LocalExecutor, count_cores, count_workers
from ._observer import Event, NullObserver, Observer
from ._queue import JobQueue
from ._ray import RayExecutor
from ._run_jobs import run_jobs
from ._work import JobBlockedError, Report, ignore_progress, work

__all__ = [
    "AbstractExecutor",
    "Event",
    "InlineExecutor",
    "Job",
    "JobBlockedError",
    "JobFiles",
    "JobQueue",
    "Jobs",
    "LocalExecutor",
    "NullObserver",
    "Observer",
    "Outcome",
    "RayExecutor",
    "Report",
    "count_cores",
    "count_workers",
    "ignore_progress",
    "run_jobs",
    "work",
]
