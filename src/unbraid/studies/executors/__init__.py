"""Where the runs of a study are computed."""

from unbraid.studies._job import Job, Outcome

from ._base import AbstractExecutor, Jobs, News
from ._inline import InlineExecutor
from ._local import LocalExecutor, count_cores, count_workers
from ._ray import RayExecutor

__all__ = [
    "AbstractExecutor",
    "InlineExecutor",
    "Job",
    "Jobs",
    "LocalExecutor",
    "News",
    "Outcome",
    "RayExecutor",
    "count_cores",
    "count_workers",
]
