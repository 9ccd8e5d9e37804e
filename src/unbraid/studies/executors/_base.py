"""What an executor is: workers that take jobs, and news of how they get on."""

import abc
from collections.abc import Generator
from dataclasses import dataclass
from typing import Literal, Protocol

from unbraid.studies._job import Job, Outcome


class Jobs(Protocol):
    """Where an executor takes its jobs from."""

    def take(self) -> Job | None:
        """The next job, or none that can be begun now."""
        ...

    @property
    def is_over(self) -> bool:
        """Whether there will never be another one."""
        ...


@dataclass(frozen=True)
class News:
    """Something that happened.

    Attributes:
        kind: A job was ``begun``, has made ``progress``, or has ``ended``; or nothing
            has for a while (``quiet``), so that the reader may look at other things.
        job: Which one.
        outcome: How it ended, if it has.
        step: Updates done, if it has made progress.
        images_per_second: Likewise.
    """

    kind: Literal["begun", "progress", "ended", "quiet"]
    job: Job | None = None
    outcome: Outcome | None = None
    step: int = 0
    images_per_second: float = 0.0


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
    def run(self, jobs: Jobs) -> Generator[News]:
        """Take jobs while there are any, and tell how they get on.

        Ends when no job is left and all that were begun have ended. Every job that is
        taken ends exactly once. When the generator is closed, all workers are gone.

        Args:
            jobs: Asked whenever a worker is free.

        Yields:
            News, at least every second.
        """

    @abc.abstractmethod
    def stop(self) -> None:
        """Ask all workers to finish their step, save, and end as ``interrupted``."""
