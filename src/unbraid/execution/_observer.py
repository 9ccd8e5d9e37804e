"""Following jobs while they run."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ._job import Job, Outcome


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    Attributes:
        kind: ``begun``, ``progress`` or ``ended``; or ``quiet`` if nothing has happened
            for a while, which gives the caller time for other things.
        job: The job; None if the kind is ``quiet``.
        outcome: Result of a job that has ended; None for other kinds.
        step: Number of training steps done, if the kind is ``progress``.
        images_per_second: Training speed, if the kind is ``progress``.
    """

    kind: Literal["begun", "progress", "ended", "quiet"]
    job: Job | None = None
    outcome: Outcome | None = None
    step: int = 0
    images_per_second: float = 0.0


class Observer(Protocol):
    """Interface of objects that follow the progress of jobs."""

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Prepare for jobs that start now.

        Args:
            n_runs: Total number of jobs.
            n_done: Number of jobs that were finished earlier.
            n_workers: Number of jobs that run at the same time.
        """
        ...

    def notify(self, event: Event) -> None:
        """Handle an event."""
        ...


class NullObserver:
    """An observer that shows nothing."""

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Do nothing."""
        del n_runs, n_done, n_workers

    def notify(self, event: Event) -> None:
        """Do nothing."""
        del event
