"""Running jobs until none is left, Ctrl-C is pressed, or something blocks them."""

import contextlib
from collections.abc import Callable

from unbraid.foundation import deferred_interruption

from ._executor import AbstractExecutor
from ._job import Job, Outcome
from ._observer import Event, Observer
from ._queue import JobQueue


def run_jobs(
    queue: JobQueue,
    executor: AbstractExecutor,
    observer: Observer,
    on_end: Callable[[Job, Outcome], str],
) -> None:
    """Run all jobs of a queue.

    On Ctrl-C or SIGTERM, every job ends after its current step and the function
    returns. A second Ctrl-C raises at once.

    Args:
        queue: Jobs to run.
        executor: Executor that runs them.
        observer: Notified of every event.
        on_end: Called when a job has ended. Returns a reason to start no more jobs,
            or an empty string.

    Raises:
        OSError: If results cannot be written, for example because the disk is full.
            Results written before are kept.
    """
    blocked, is_stopping = "", False
    with (
        deferred_interruption(with_termination=True) as is_interrupted,
        contextlib.closing(executor.run(queue)) as stream,
    ):
        for event in stream:
            if event.kind == "ended" and event.job and event.outcome:
                job, outcome = event.job, queue.record_outcome(event.job, event.outcome)
                event = Event("ended", job, outcome)
                if outcome.end == "blocked":
                    blocked = blocked or outcome.message
                blocked = blocked or on_end(job, outcome)
            observer.notify(event)
            if (blocked or is_interrupted()) and not is_stopping:
                is_stopping = True
                queue.close()
                executor.stop()
    if blocked:
        raise OSError(
            f"Cannot write the results: {blocked.rstrip('.')}. Finished jobs are kept. "
            "Solve the problem, then continue with the same command."
        )
