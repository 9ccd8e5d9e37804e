"""Which run comes next: those that are missing, and those to be tried once more."""

import time
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from ._job import Job, Outcome
from ._job_files import JobFiles

_TRIES = 3
"""Workers that a run may take with it, without getting on, before it is given up."""

_LOOK_AGAIN_SECONDS = 2.0
"""After which to ask whether another process is done with a run."""


class JobQueue:
    """Jobs of a study that are still to be done.

    Args:
        jobs: In the order in which they should be begun.
        more_to_come: Whether jobs will be added; then it is over when :meth:`close`
            says so, and not when it is empty.
    """

    def __init__(self, jobs: Iterable[Job], *, more_to_come: bool = False) -> None:
        self._waiting = deque(jobs)
        self._more_to_come = more_to_come
        self._later: deque[tuple[float, Job]] = deque()
        self._n_begun = 0
        self._deaths: dict[str, tuple[int, int]] = {}
        self._is_closed = False

    def take(self) -> Job | None:
        """The next job, or none that can be begun now."""
        if self._is_closed:
            return None
        if not self._waiting and self._later and self._later[0][0] <= time.monotonic():
            self._waiting.append(self._later.popleft()[1])
        if not self._waiting:
            return None
        self._n_begun += 1
        return self._waiting.popleft()

    @property
    def is_over(self) -> bool:
        """Whether there will never be another job."""
        left = self._waiting or self._later or self._n_begun or self._more_to_come
        return self._is_closed or not left

    def add(self, jobs: Iterable[Job]) -> None:
        """More jobs, to be begun after those that wait."""
        self._waiting.extend(jobs)

    @property
    def n_left(self) -> int:
        """Jobs that have not ended."""
        return len(self._waiting) + len(self._later) + self._n_begun

    def record_outcome(self, job: Job, outcome: Outcome) -> Outcome:
        """Take note of how a job ended, and try it again if that may help.

        Returns:
            The outcome to be told: that of a run which has taken too many workers with
            it is a failure.
        """
        self._n_begun -= 1
        if outcome.end == "busy":
            self._later.append((time.monotonic() + _LOOK_AGAIN_SECONDS, job))
        elif outcome.end == "died" and not self._is_closed:
            if self._count_death(job) == _TRIES:
                message = f"{_TRIES} times in a row {outcome.message}"
                files = JobFiles(Path(job.folder))
                files.write_failure(job.id, message, "WorkerDied")
                return Outcome(job.id, "failed", message)
            self._waiting.appendleft(job)
        return outcome

    def _count_death(self, job: Job) -> int:
        """Workers that a run has lost since it last saved its state.

        A long run on machines that come and go may lose any number, and still get on.
        """
        state = JobFiles(Path(job.folder)).training_state
        saved_at = state.stat().st_mtime_ns if state.is_file() else 0
        last, count = self._deaths.get(job.id, (saved_at, 0))
        count = count + 1 if last == saved_at else 1
        self._deaths[job.id] = saved_at, count
        return count

    def close(self) -> None:
        """Begin no more jobs."""
        self._is_closed = True
