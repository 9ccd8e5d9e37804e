"""The inline executor: in this process, one run after another."""

import time
from collections.abc import Generator

from ._executor import AbstractExecutor, Jobs
from ._observer import Event
from ._work import work

_WAIT_SECONDS = 0.25


class InlineExecutor(AbstractExecutor):
    """Runs jobs in the process that asks for them, for debuggers and small studies.

    Nothing is set up: threads and memory are those of the process. Event come between
    runs only, and what kills a run kills the process.
    """

    def __init__(self) -> None:
        self._is_stopping = False

    @property
    def n_workers(self) -> int:
        """One."""
        return 1

    def run(self, jobs: Jobs) -> Generator[Event]:
        """One job after another, until there is none or one is interrupted."""
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
        """Begin no further job."""
        self._is_stopping = True
