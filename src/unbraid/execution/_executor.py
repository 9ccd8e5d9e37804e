"""What an executor is: workers that take jobs, and news of how they get on."""

import abc
from collections.abc import Generator
from typing import Protocol

from ._job import Job
from ._observer import Event


class Jobs(Protocol):
    """Where an executor takes its jobs from."""

    def take(self) -> Job | None:
        """The next job, or none that can be begun now."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether there will never be another one."""
        ...


class AbstractExecutor(abc.ABC):
    """Runs jobs somewhere, several at once.

    A worker that dies takes its own job with it and no other: the job ends as
    ``died``, and another worker takes its place. To write one: subclass this, and run
    ``unbraid.testing.check_executor`` on it.
    """

    @property
    @abc.abstractmethod
    def n_workers(self) -> int:
        """Jobs that can run at once."""

    @abc.abstractmethod
    def run(self, jobs: Jobs) -> Generator[Event]:
        """Take jobs while there are any, and tell how they get on.

        Ends when no job is left and all that were begun have ended. Every job that is
        taken ends exactly once. When the generator is closed, all workers are gone.

        Args:
            jobs: Asked whenever a worker is free.

        Yields:
            Event, at least every second.
        """

    @abc.abstractmethod
    def stop(self) -> None:
        """Ask all workers to finish their step, save, and end as ``interrupted``."""
