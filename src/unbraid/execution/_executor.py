"""The executor interface: workers that run jobs and report events."""

import abc
from collections.abc import Generator
from typing import Protocol, Self

from ._job import Job
from ._observer import Event


class Jobs(Protocol):
    """Source of the jobs that an executor runs."""

    def take(self) -> Job | None:
        """Return the next job, or None if no job can start now."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether no more jobs will come."""
        ...


class AbstractExecutor(abc.ABC):
    """Base class of executors, which run several jobs at a time.

    If a worker dies, only its own job is lost: the job ends as ``died``, and a new
    worker replaces the old one. Between several calls of :meth:`run`, workers may be
    kept with a ``with`` statement, which saves the time to start them again. To write
    an executor, subclass this class and test it with
    ``unbraid.testing.check_executor``.
    """

    def __enter__(self) -> Self:
        """Keep workers after a run, if the executor can."""
        return self

    def __exit__(self, *error: object) -> None:
        """End workers that were kept."""
        del error

    @property
    @abc.abstractmethod
    def n_workers(self) -> int:
        """Number of jobs that can run at the same time."""

    @abc.abstractmethod
    def run(self, jobs: Jobs) -> Generator[Event]:
        """Run all jobs and yield what happens to them.

        Returns when no jobs are left and all started jobs have ended. Every job that
        is taken ends exactly once. Closing the generator ends all workers that have a
        job.

        Args:
            jobs: Source of jobs, asked for one whenever a worker is free.

        Yields:
            Events, at least one per second.
        """

    @abc.abstractmethod
    def stop(self) -> None:
        """Ask all workers to finish their step, save and end as ``interrupted``."""
