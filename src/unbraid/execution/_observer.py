"""Following jobs while they run."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ._job import Job, Outcome


@dataclass(frozen=True)
class Event:
    """Something that happened to a job.

    Attributes:
        kind: ``begun``, ``progress`` or ``ended``; or ``quiet`` if nothing has happened
            for a while, so that the reader may look at other things.
        job: The job, unless the kind is ``quiet``.
        outcome: How the job ended, if it has.
        step: Training steps done, of an event of progress.
        images_per_second: Training speed, of an event of progress.
    """

    kind: Literal["begun", "progress", "ended", "quiet"]
    job: Job | None = None
    outcome: Outcome | None = None
    step: int = 0
    images_per_second: float = 0.0


class Observer(Protocol):
    """Is told how jobs get on."""

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Jobs begin, or are continued.

        Args:
            n_runs: Number of all jobs.
            n_done: Number of jobs that were done before.
            n_workers: Number of jobs at once.
        """
        ...

    def notify(self, event: Event) -> None:
        """Something happened."""
        ...


class NullObserver:
    """An observer that shows nothing."""

    def begin(self, *, n_runs: int, n_done: int, n_workers: int) -> None:
        """Do nothing."""
        del n_runs, n_done, n_workers

    def notify(self, event: Event) -> None:
        """Do nothing."""
        del event
