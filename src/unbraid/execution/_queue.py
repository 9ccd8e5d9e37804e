"""The queue of jobs, with retries for jobs whose worker died."""

import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from ._job import Job, Outcome
from ._job_files import JobFiles

_TRIES = 3
"""Number of workers that may die on one job, without progress, before it fails."""

_RETRY_SECONDS = 2.0
"""Delay before retrying a job that another process is working on."""


class JobQueue:
    """Queue of jobs that are not finished.

    Args:
        jobs: Jobs in the order in which to start them.
        more_to_come: Whether jobs will be added later. If so, the queue ends when
            :meth:`close` is called, not when it is empty.
    """

    def __init__(self, jobs: Iterable[Job], *, more_to_come: bool = False) -> None:
        self._waiting = deque(jobs)
        self._more_to_come = more_to_come
        self._later: deque[tuple[float, Job]] = deque()
        self._n_running = 0
        self._deaths: dict[str, tuple[int, int]] = {}
        self._is_closed = False

    def take(self) -> Job | None:
        """Return the next job, or None if no job can start now."""
        if self._is_closed:
            return None
        if not self._waiting and self._later and self._later[0][0] <= time.monotonic():
            self._waiting.append(self._later.popleft()[1])
        if not self._waiting:
            return None
        self._n_running += 1
        return self._waiting.popleft()

    @property
    def is_over(self) -> bool:
        """Whether no more jobs will come."""
        left = self._waiting or self._later or self._n_running or self._more_to_come
        return self._is_closed or not left

    def add(self, jobs: Iterable[Job]) -> None:
        """Append jobs to the end of the queue."""
        self._waiting.extend(jobs)

    @property
    def n_left(self) -> int:
        """Number of jobs that have not ended."""
        return len(self._waiting) + len(self._later) + self._n_running

    def record_outcome(self, job: Job, outcome: Outcome) -> Outcome:
        """Record how a job ended, and queue it again if a retry may help.

        Returns:
            Outcome to report: a failure if the workers of the job have died too often,
            otherwise the given outcome.
        """
        self._n_running -= 1
        if outcome.end == "busy":
            self._later.append((time.monotonic() + _RETRY_SECONDS, job))
        elif outcome.end == "died" and not self._is_closed:
            if self._count_death(job) == _TRIES:
                message = f"{_TRIES} times in a row {outcome.message}"
                files = JobFiles(Path(job.folder))
                files.write_failure(job.id, message, "WorkerDied")
                return Outcome(job.id, "failed", message)
            self._waiting.appendleft(job)
        return outcome

    def _count_death(self, job: Job) -> int:
        """Return how many workers died on a job since it last saved its state.

        A long job on unreliable machines may lose any number of workers, as long as it
        makes progress in between.
        """
        state = JobFiles(Path(job.folder)).training_state
        saved_at = state.stat().st_mtime_ns if state.is_file() else 0
        last, count = self._deaths.get(job.id, (saved_at, 0))
        count = count + 1 if last == saved_at else 1
        self._deaths[job.id] = saved_at, count
        return count

    def close(self) -> None:
        """Start no more jobs."""
        self._is_closed = True
