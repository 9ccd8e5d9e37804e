"""An executor that runs jobs one after another in the current process."""

import time
from collections.abc import Generator

from ._executor import AbstractExecutor, Jobs
from ._observer import Event
from ._work import work

_WAIT_SECONDS = 0.25


class InlineExecutor(AbstractExecutor):
    """Runs jobs one after another in the current process.

    Meant for debugging and small studies. Threads and memory limits stay as they are.
    Events are reported between jobs only, and a job that crashes ends the process.
    """

    def __init__(self) -> None:
        self._is_stopping = False

    @property
    def n_workers(self) -> int:
        """Always 1."""
        return 1

    def run(self, jobs: Jobs) -> Generator[Event]:
        """Run jobs until none is left or one is interrupted."""
        self._is_stopping = False
        while not (jobs.is_over or self._is_stopping):
            job = jobs.take()
            if job is None:
                time.sleep(_WAIT_SECONDS)
                yield Event("quiet")
                continue
            yield Event("begun", job)
            outcome = work(job)
            self._is_stopping |= outcome.end == "interrupted"
            yield Event("ended", job, outcome)

    def stop(self) -> None:
        """Start no more jobs."""
        self._is_stopping = True
