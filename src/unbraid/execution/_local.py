"""The local executor, with one single-threaded process per core."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from typing import Any, Self

import torch

from unbraid.foundation import check_integer
from unbraid.training import choose_device

from ._executor import AbstractExecutor, Jobs
from ._job import Job, Outcome
from ._local_worker import STOP
from ._observer import Event
from ._work import ONE_THREAD

_QUIET_SECONDS = 0.25
_GPU_BYTES_PER_RUN = 2**30
"""GPU memory of a training run of a small model, including that of CUDA itself."""

_STARTS = 3
"""Number of workers in a row that may die while starting before an error is raised."""


class LocalExecutor(AbstractExecutor):
    """Worker processes on this machine.

    Small models train fastest with one thread per process and one process per core.
    Datasets read from files are memory-mapped and shared by the processes.

    Args:
        n_workers: Number of processes. Default: the number of cores.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        if n_workers is not None:
            check_integer("n_workers", n_workers, least=1)
        self._n_workers = n_workers or count_cores()
        self._workers: list[_Worker] = []
        self._n_entered = 0

    def __enter__(self) -> Self:
        """Keep idle workers after a run, for the next one."""
        self._n_entered += 1  # statements may be nested
        return self

    def __exit__(self, *error: object) -> None:
        """End all workers at the end of the outermost ``with`` statement."""
        del error
        self._n_entered -= 1
        self._end_workers()

    @property
    def n_workers(self) -> int:
        """Number of processes."""
        return self._n_workers

    def run(self, jobs: Jobs) -> Generator[Event]:
        """Start workers as they are needed, give them jobs, and end them."""
        self._end_workers()  # forgets those that have died since the last run
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.output, selectors.EVENT_READ, worker)
            try:
                yield from self._run(jobs, selector)
            finally:
                self._end_workers()

    def _end_workers(self) -> None:
        """End all workers, but for idle ones that are kept."""
        workers, self._workers = self._workers, []
        for worker in workers:
            if self._n_entered and worker.is_idle and worker.is_running:
                self._workers.append(worker)
            else:
                worker.kill()

    def _run(self, jobs: Jobs, selector: selectors.BaseSelector) -> Iterator[Event]:
        n_false_starts = 0
        while True:
            yield from self._assign_jobs(jobs, selector)
            if jobs.is_over and not any(worker.job for worker in self._workers):
                return
            ready = selector.select(_QUIET_SECONDS)
            if not ready:
                yield Event("quiet")
            for key, _ in ready:
                worker: _Worker = key.data
                messages = worker.read()
                for message in messages or []:
                    event = worker.handle(message)
                    if event is not None:
                        yield event
                if messages is None:  # the worker has died
                    selector.unregister(worker.output)
                    self._workers.remove(worker)
                    n_false_starts = 0 if worker.is_ready else n_false_starts + 1
                    reason = worker.explain_death()
                    worker.kill()
                    if worker.job is not None:
                        # A worker that was asked to stop may end before its job starts.
                        end = "died" if worker.is_open else "interrupted"
                        outcome = Outcome(worker.job.id, end, reason)
                        yield Event("ended", worker.job, outcome)
                    if n_false_starts == _STARTS:
                        raise RuntimeError(
                            f"{_STARTS} worker processes in a row died while "
                            f"starting: {reason}"
                        )

    def _assign_jobs(
        self, jobs: Jobs, selector: selectors.BaseSelector
    ) -> Iterator[Event]:
        for worker in self._workers:
            if worker.is_idle:
                job = jobs.take()
                if job is None:
                    return
                worker.begin(job)
                yield Event("begun", job)
        while len(self._workers) < self._n_workers:
            job = jobs.take()
            if job is None:
                return
            worker = _Worker()
            self._workers.append(worker)
            selector.register(worker.output, selectors.EVENT_READ, worker)
            worker.begin(job)
            yield Event("begun", job)

    def stop(self) -> None:
        """Ask every worker to save and end."""
        for worker in self._workers:
            worker.stop()


class _Worker:
    """A worker process and its job."""

    def __init__(self) -> None:
        # The last line on stderr is the best explanation of a crash.
        number, path = tempfile.mkstemp()
        os.unlink(path)  # it stays as long as it is open
        self._errors = os.fdopen(number, "r+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "unbraid.execution._local_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # the parent handles Ctrl-C and stops the workers
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin
        self.output = self._process.stdout
        os.set_blocking(self.output.fileno(), False)
        self._rest = b""
        self.job: Job | None = None
        self.is_ready = False
        self.is_open = True

    @property
    def is_running(self) -> bool:
        """Whether the process is alive."""
        return self._process.poll() is None

    @property
    def is_idle(self) -> bool:
        """Whether the worker waits for a job."""
        return self.job is None and self.is_open

    def begin(self, job: Job) -> None:
        """Give the worker a job."""
        self.job = job
        self._send(json.dumps(job.to_plain()))

    def stop(self) -> None:
        """Ask the worker to save and end."""
        self.is_open = False
        self._send(STOP)

    def _send(self, line: str) -> None:
        # The death of a worker is noticed at the end of its output.
        with contextlib.suppress(BrokenPipeError):
            self._input.write(line.encode() + b"\n")
            self._input.flush()

    def read(self) -> list[dict[str, Any]] | None:
        """Return the messages since the last call, or None if the worker has died."""
        chunk = self.output.read()
        if chunk == b"":
            return None
        *lines, self._rest = (self._rest + (chunk or b"")).split(b"\n")
        return [json.loads(line) for line in lines]

    def handle(self, message: dict[str, Any]) -> Event | None:
        """Update the state of the worker, and return the event of a message."""
        job = self.job
        if "ready" in message or job is None:
            self.is_ready = True
            return None
        if "end" in message:
            self.job = None
            outcome = Outcome(job.id, message["end"], message["message"])
            return Event("ended", job, outcome)
        speed = message["images_per_second"]
        return Event("progress", job, None, message["step"], speed)

    def explain_death(self) -> str:
        """Return the exit code and the last line on stderr."""
        code = self._process.wait()
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        if code == -9:
            how += ", possibly out of memory"
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().split("\n")
        return f"the worker process died ({how}). {lines[-1][:500]}".strip()

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self.output.close()
        self._errors.close()


def count_workers(device: str) -> int:
    """Return how many runs can train at the same time on a device of this machine.

    Args:
        device: Name of a device, or ``"auto"``.

    Returns:
        Number of cores; on a GPU, at most as many runs as fit into its free memory.
    """
    n_cores, chosen = count_cores(), choose_device(device)
    if chosen.type != "cuda":
        return n_cores
    n_free, _ = torch.cuda.mem_get_info(chosen)
    return max(1, min(n_cores, n_free // _GPU_BYTES_PER_RUN))


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
