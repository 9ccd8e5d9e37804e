"""A worker process of the local executor.

It reads jobs from its input and writes messages to its output, one JSON record per
line. When the parent process dies, the input closes and the worker exits at once. This
is safe at any time.
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
# Seconds between two progress messages.
_INTERVAL = 1.0


class _Progress:
    """Reports the progress of a job to the parent, about once per second."""

    def __init__(self, output: TextIO) -> None:
        self._output, self._sent_at = output, 0.0

    def __call__(self, step: int, images_per_second: float) -> None:
        now = time.monotonic()
        if now - self._sent_at >= _INTERVAL:
            self._sent_at = now
            record = {"step": step, "images_per_second": images_per_second}
            _send(self._output, record)


def _send(output: TextIO, message: Mapping[str, Any]) -> None:
    output.write(json.dumps(message) + "\n")
    output.flush()


def _listen(jobs: "queue.Queue[Job]", stopping: threading.Event) -> None:
    """Read jobs and the request to stop; exit when the parent has died."""
    for line in sys.stdin:
        if line.strip() == STOP:
            stopping.set()
            os.kill(os.getpid(), signal.SIGINT)
        else:
            jobs.put(Job.from_plain(json.loads(line)))
    os._exit(0)


def main() -> None:
    """Run jobs until the input closes or a stop is requested."""
    # Keep the real stdout for messages, and send all other output to stderr.
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    jobs: queue.Queue[Job] = queue.Queue()
    stopping = threading.Event()
    threading.Thread(target=_listen, args=(jobs, stopping), daemon=True).start()
    prepare_process()
    _send(output, {"ready": os.getpid()})
    while not stopping.is_set():
        try:
            job = jobs.get()
        except KeyboardInterrupt:
            return
        outcome = _work(job, output)
        _send(output, {"end": outcome.end, "message": outcome.message})


def _work(job: Job, output: TextIO) -> Outcome:
    try:
        return work(job, _Progress(output))
    except KeyboardInterrupt:  # raised outside of the handler in `work`
        return Outcome(job.id, "interrupted")


if __name__ == "__main__":
    main()
