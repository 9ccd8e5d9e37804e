"""Where the runs of a study are computed."""

from ._base import AbstractExecutor, Jobs, News
from ._local import LocalExecutor
from ._ray import RayExecutor

__all__ = ["AbstractExecutor", "Jobs", "LocalExecutor", "News", "RayExecutor"]
