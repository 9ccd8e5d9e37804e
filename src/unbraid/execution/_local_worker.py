"""A worker process of the local executor: jobs on its input, news on its output.

One line of JSON each. The process lives as long as its input is open: when whoever
started it dies, the input closes, and it stops at once. That is safe at any moment.
"""

import json
import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, TextIO

from ._job import Job, Outcome
from ._work import prepare_process, work

STOP = "stop"
# Seconds between two lines about the progress of a run.
_EVERY = 1.0


class _Progress:
    """Tells the parent how far a job is, about once a second."""

    def __init__(self, output: TextIO) -> None:
        self._output, self._told_at = output, 0.0

    def __call__(self, step: int, images_per_second: float) -> None:
        now = time.monotonic()
        if now - self._told_at >= _EVERY:
            self._told_at = now
            record = {"step": step, "images_per_second": images_per_second}
            _tell(self._output, record)


def _tell(output: TextIO, words: Mapping[str, Any]) -> None:
    output.write(json.dumps(words) + "\n")
    output.flush()


def _listen(jobs: "queue.Queue[Job]", stopping: threading.Event) -> None:
    """Read jobs, and the wish to stop; leave with the parent."""
    for line in sys.stdin:
        if line.strip() == STOP:
            stopping.set()
            os.kill(os.getpid(), signal.SIGINT)
        else:
            jobs.put(Job.from_plain(json.loads(line)))
    os._exit(0)


def main() -> None:
    """Work until the input closes."""
    # NullObserver else may write where the news goes.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jobs: queue.Queue[Job] = queue.Queue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(jobs, stopping), daemon=True).start()
    prepare_process()
    _tell(output, {"ready": os.getpid()})
    while not stopping.is_set():
        try:
            job = jobs.get()
        except KeyboardInterrupt:
            return
        outcome = _work(job, output)
        _tell(output, {"end": outcome.end, "message": outcome.message})


def _work(job: Job, output: TextIO) -> Outcome:
    try:
        return work(job, _Progress(output))
    except KeyboardInterrupt:  # between two of its own handlers
        return Outcome(job.id, "interrupted")


if __name__ == "__main__":
    main()
