"""The local executor: one process of one thread per core."""

import contextlib
import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import torch

from unbraid.training import choose_device

from ._executor import AbstractExecutor, Jobs
from ._job import Job, Outcome
from ._local_worker import STOP
from ._observer import Event
from ._work import ONE_THREAD

_QUIET_SECONDS = 0.25
_GPU_BYTES_PER_RUN = 2**30
"""Memory of a GPU that a run of a small model takes, CUDA's own share included."""

_STARTS = 3
"""Workers that may die in a row before they are ready, until it is given up."""


class LocalExecutor(AbstractExecutor):
    """Worker processes on this machine.

    Small models train fastest with one thread each and one process per core. Datasets
    that come from files are memory maps, which the processes share.

    Args:
        n_workers: Processes, as many as there are cores when not given.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        if n_workers is not None and n_workers < 1:
            raise ValueError(f"study: expected workers from 1, got {n_workers}.")
        self._n_workers = n_workers or count_cores()
        self._workers: list[_Worker] = []

    @property
    def n_workers(self) -> int:
        """Number of processes."""
        return self._n_workers

    def run(self, jobs: Jobs) -> Generator[Event]:
        """Start the workers, hand out the jobs, and let the workers go."""
        with (
            tempfile.TemporaryDirectory() as scratch,
            selectors.DefaultSelector() as selector,
        ):
            try:
                yield from self._run(jobs, selector, Path(scratch))
            finally:
                for worker in self._workers:
                    worker.kill()
                self._workers.clear()

    def _run(
        self, jobs: Jobs, selector: selectors.BaseSelector, scratch: Path
    ) -> Iterator[Event]:
        n_false_starts = 0
        while True:
            yield from self._hand_out(jobs, selector, scratch)
            if jobs.is_over and not any(worker.job for worker in self._workers):
                return
            ready = selector.select(_QUIET_SECONDS)
            if not ready:
                yield Event("quiet")
            for key, _ in ready:
                worker: _Worker = key.data
                words = worker.read()
                for word in words or []:
                    news = worker.understand(word)
                    if news is not None:
                        yield news
                if words is None:  # it is gone
                    selector.unregister(worker.output)
                    self._workers.remove(worker)
                    n_false_starts = 0 if worker.is_ready else n_false_starts + 1
                    reason = worker.last_words()
                    worker.kill()
                    if worker.job is not None:
                        # One that was asked to stop may leave before it has begun.
                        end = "died" if worker.is_open else "interrupted"
                        outcome = Outcome(worker.job.id, end, reason)
                        yield Event("ended", worker.job, outcome)
                    if n_false_starts == _STARTS:
                        raise RuntimeError(
                            "study: expected worker processes that start, got "
                            f"{_STARTS} that did not: {reason}"
                        )

    def _hand_out(
        self, jobs: Jobs, selector: selectors.BaseSelector, scratch: Path
    ) -> Iterator[Event]:
        for worker in self._workers:
            if worker.job is None and worker.is_open:
                job = jobs.take()
                if job is None:
                    return
                worker.begin(job)
                yield Event("begun", job)
        while len(self._workers) < self._n_workers:
            job = jobs.take()
            if job is None:
                return
            worker = _Worker(scratch)
            self._workers.append(worker)
            selector.register(worker.output, selectors.EVENT_READ, worker)
            worker.begin(job)
            yield Event("begun", job)

    def stop(self) -> None:
        """Ask every worker to save and leave."""
        for worker in self._workers:
            worker.stop()


class _Worker:
    """One process, and what it works on."""

    def __init__(self, scratch: Path) -> None:
        # What a process says before it dies is the best reason there is.
        number, path = tempfile.mkstemp(dir=scratch)
        self._complaints = Path(path)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "unbraid.execution._local_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=number,
            env={**os.environ, **ONE_THREAD},
            start_new_session=True,  # Ctrl-C is for the parent, which tells the workers
        )
        os.close(number)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._input = self._process.stdin
        self.output = self._process.stdout
        os.set_blocking(self.output.fileno(), False)
        self._rest = b""
        self.job: Job | None = None
        self.is_ready = False
        self.is_open = True

    def begin(self, job: Job) -> None:
        """Hand it a job."""
        self.job = job
        self._say(json.dumps(job.to_plain()))

    def stop(self) -> None:
        """Ask it to save and leave."""
        self.is_open = False
        self._say(STOP)

    def _say(self, line: str) -> None:
        # If it is dead, the end of its output says so.
        with contextlib.suppress(BrokenPipeError):
            self._input.write(line.encode() + b"\n")
            self._input.flush()

    def read(self) -> list[dict[str, Any]] | None:
        """What it has said since the last time; nothing at all if it is gone."""
        chunk = self.output.read()
        if chunk == b"":
            return None
        *lines, self._rest = (self._rest + (chunk or b"")).split(b"\n")
        return [json.loads(line) for line in lines]

    def understand(self, words: dict[str, Any]) -> Event | None:
        """What it said, as news."""
        job = self.job
        if "ready" in words or job is None:
            self.is_ready = True
            return None
        if "end" in words:
            self.job = None
            return Event("ended", job, Outcome(job.id, words["end"], words["message"]))
        return Event("progress", job, None, words["step"], words["images_per_second"])

    def last_words(self) -> str:
        """Why it is gone, as far as that can be known."""
        code = self._process.wait()
        how = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
        if code == -9:
            how += ", perhaps for want of memory"
        lines = self._complaints.read_text(errors="replace").strip().split("\n")
        return f"the worker process is gone ({how}). {lines[-1][:500]}".strip()

    def kill(self) -> None:
        """End it now."""
        self._process.kill()
        self._process.wait()
        with contextlib.suppress(BrokenPipeError):
            self._input.close()
        self.output.close()


def count_workers(device: str) -> int:
    """Return how many runs may train at once on a device of this machine.

    Args:
        device: Name of a device, or ``"auto"``.

    Returns:
        The number of cores; on a GPU no more than its free memory has room for.
    """
    n_cores, chosen = count_cores(), choose_device(device)
    if chosen.type != "cuda":
        return n_cores
    n_free, _ = torch.cuda.mem_get_info(chosen)
    return max(1, min(n_cores, n_free // _GPU_BYTES_PER_RUN))


def count_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
