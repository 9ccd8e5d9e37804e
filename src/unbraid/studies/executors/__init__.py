"""Where the runs of a study are computed."""

from ._base import AbstractExecutor, Jobs, News
from ._local import LocalExecutor

__all__ = ["AbstractExecutor", "Jobs", "LocalExecutor", "News"]
