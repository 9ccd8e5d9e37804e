"""Where the runs of a study are computed."""

from ._base import AbstractExecutor, Jobs, News
from ._inline import InlineExecutor
from ._local import LocalExecutor, count_cores, count_workers
from ._ray import RayExecutor

__all__ = [
    "AbstractExecutor",
    "InlineExecutor",
    "Jobs",
    "LocalExecutor",
    "News",
    "RayExecutor",
    "count_cores",
    "count_workers",
]
