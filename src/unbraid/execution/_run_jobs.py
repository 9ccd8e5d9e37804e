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
    """Run the jobs of a queue.

    Ctrl-C or SIGTERM ends every job after its current step, and the call returns; a
    second one raises at once.

    Args:
        queue: The jobs.
        executor: Executor that runs them.
        observer: Is told what happens.
        on_end: Is called when a job has ended. Returns why no more jobs should begin,
            or an empty text.

    Raises:
        OSError: If something keeps the results from being written, such as a full disk;
            results that were written stay.
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
            f"Cannot write the results: {blocked.rstrip('.')}. What is done stays; the "
            "same command continues once the problem is solved."
        )
