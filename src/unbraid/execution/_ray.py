"""The Ray executor, for this machine or a cluster."""

import contextlib
import functools
import json
import logging
import math
import os
import signal
import socket
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from unbraid.foundation import (
    check_integer,
    check_number,
    check_positive,
    import_extra,
)

from ._executor import AbstractExecutor, Jobs
from ._job import Job, Outcome
from ._local import count_cores
from ._observer import Event
from ._work import ONE_THREAD, prepare_process, work

_QUIET_SECONDS = 0.25
_PROGRESS_SECONDS = 1.0
"""Time between two checks of the progress of all jobs."""

_ANSWER_SECONDS = 10.0
"""Time in which a cluster must answer."""

_TAIL_BYTES = 2**16
"""Bytes to read from the end of a history; enough for its last line."""

_STORE_BYTES = 100 * 2**20
"""Memory of Ray's object store, which holds only short messages."""

LOSSES = "A worker died or was killed|killed due to memory pressure|marked dead"
"""Pattern of lines that Ray would print regardless of its log level."""


class RayExecutor(AbstractExecutor):
    """Runs jobs with Ray, on this machine or a cluster.

    Results are the same as with :class:`LocalExecutor`: each job computes with one
    thread, however many cores it requests. Jobs read and write the folder of the study,
    which must have the same path on every node. Every node also needs the same version
    of unbraid, and the data. If a worker or node is lost, its job is retried from the
    last saved state.

    Ray is started for the study and shut down with it. If the calling program has
    called ``ray.init`` already, that instance is used and stays up.

    Args:
        n_workers: Number of jobs at the same time. Default: as many as the nodes have
            room for.
        address: Address of a cluster as for ``ray.init``, such as ``"auto"``. Default:
            the environment variable ``RAY_ADDRESS`` if set, otherwise Ray is started on
            this machine.
        cpus: Cores to request for each job, above 0.
        gpus: GPUs to request for each job; jobs can share one by requesting a fraction.

    Raises:
        ImportError: If Ray is not installed. The message says how to install it.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        address: str | None = None,
        cpus: float = 1,
        gpus: float = 0,
    ) -> None:
        if n_workers is not None:
            check_integer("n_workers", n_workers, least=1)
        check_positive("cpus", cpus)
        check_number("gpus", gpus, least=0)
        # Ray reads this variable on import. The study reports lost workers itself.
        with _environment("RAY_DEDUP_LOGS_SKIP_REGEX", LOSSES):
            self._ray = import_extra("ray", "ray", feature="RayExecutor")
        self._n_workers = n_workers
        self._address = address or os.environ.get("RAY_ADDRESS")
        self._cpus, self._gpus = cpus, gpus
        self._is_ours = False
        self._running: dict[Any, _Running] = {}

    @property
    def n_workers(self) -> int:
        """Number of jobs at the same time, from the cluster if not given."""
        if self._n_workers is None:
            if self._address is None and not self._ray.is_initialized():
                nodes = [(count_cores(), torch.cuda.device_count())]
            else:
                self._connect()
                alive = [
                    node["Resources"] for node in self._ray.nodes() if node["Alive"]
                ]
                nodes = [(node.get("CPU", 0), node.get("GPU", 0)) for node in alive]
            self._n_workers = self._count_room(nodes)
        return self._n_workers

    def _count_room(self, nodes: Sequence[tuple[float, float]]) -> int:
        """Return how many jobs fit on nodes with the given cores and GPUs."""
        room = 0
        for n_cpus, n_gpus in nodes:
            here = int(n_cpus / self._cpus)
            room += min(here, int(n_gpus / self._gpus)) if self._gpus else here
        if not room:
            raise ValueError(
                f"No node has the {self._cpus} cores and {self._gpus} GPUs requested "
                f"for each job; the nodes have (cores, GPUs) {nodes}. Request less, or "
                "set n_workers if larger nodes will join."
            )
        return room

    def run(self, jobs: Jobs) -> Generator[Event]:
        """Connect to Ray, run the jobs, and disconnect."""
        try:
            self._connect()
            yield from self._run(jobs)
        finally:
            self._disconnect()

    def _run(self, jobs: Jobs) -> Iterator[Event]:
        task = self._ray.remote(_work).options(
            name="unbraid",
            num_cpus=self._cpus,
            num_gpus=self._gpus,
            max_retries=0,  # the queue decides about retries
            runtime_env={"env_vars": ONE_THREAD},
        )
        checked_at = 0.0
        while True:
            while len(self._running) < self.n_workers:
                job = jobs.take()
                if job is None:
                    break
                self._running[task.remote(job.to_plain())] = _Running(job)
                yield Event("begun", job)
            if jobs.is_over and not self._running:
                return
            ended = self._wait()
            for reference in ended:
                job = self._running.pop(reference).job
                yield Event("ended", job, self._outcome(job, reference))
            if time.monotonic() - checked_at >= _PROGRESS_SECONDS:
                checked_at = time.monotonic()
                yield from filter(
                    None, [each.check_progress() for each in self._running.values()]
                )
            if not ended:
                yield Event("quiet")

    def _wait(self) -> list[Any]:
        if not self._running:  # another process works on the remaining jobs
            time.sleep(_QUIET_SECONDS)
            return []
        return self._ray.wait(list(self._running), timeout=_QUIET_SECONDS)[0]

    def _outcome(self, job: Job, reference: Any) -> Outcome:
        errors = self._ray.exceptions
        try:
            end, message = self._ray.get(reference)
        except errors.TaskCancelledError:
            return Outcome(job.id, "interrupted")
        except (errors.RayTaskError, errors.RuntimeEnvSetupError) as error:
            # Not the fault of the job: `work` does not raise.
            message = f"a node cannot run jobs: {_lines(error)[-1]}"
            return Outcome(job.id, "blocked", message)
        except errors.RayError as error:
            reason = f"{type(error).__name__}. {' '.join(_lines(error))}"
            message = f"the Ray worker died: {reason[:500]}"
            return Outcome(job.id, "died", message)
        return Outcome(job.id, end, message)

    def stop(self) -> None:
        """Interrupt every worker, as Ctrl-C would."""
        for reference in self._running:
            self._ray.cancel(reference)

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        quiet = {"log_to_driver": False, "logging_level": logging.CRITICAL}
        with _kept_termination():
            if self._address is None:
                self._start(quiet)
            else:
                self._join(self._address, quiet)
        self._is_ours = True

    def _join(self, address: str, options: dict[str, Any]) -> None:
        try:
            _require_answer(address)
            self._ray.init(address, **options)
        except (OSError, ValueError, RuntimeError) as error:
            raise ConnectionError(
                f"Cannot connect to a Ray cluster at {address!r}: {_lines(error)[-1]}"
            ) from error

    def _start(self, options: dict[str, Any]) -> None:
        n_cpus = math.ceil(self.n_workers * self._cpus)
        n_gpus = torch.cuda.device_count()
        self._count_room([(n_cpus, n_gpus)])  # otherwise Ray would wait forever
        with _environment("RAY_USAGE_STATS_ENABLED", "0"):
            self._ray.init(
                "local",
                num_cpus=n_cpus,
                num_gpus=n_gpus,
                include_dashboard=False,
                object_store_memory=_STORE_BYTES,
                **options,
            )

    def _disconnect(self) -> None:
        for reference in self._running:
            self._ray.cancel(reference, force=True)
        if self._running:
            references = list(self._running)
            self._ray.wait(references, num_returns=len(references), timeout=10)
            self._running.clear()
        if self._is_ours:
            self._is_ours = False
            self._ray.shutdown()


class _Running:
    """A running job, with its progress as read from its history file."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._history = Path(job.folder) / "history.jsonl"
        self._step = -1

    def check_progress(self) -> Event | None:
        """Return a progress event if the job has progressed since the last call."""
        record = _read_last_record(self._history)
        step = record.get("step", self._step)
        if step == self._step:
            return None
        self._step = step
        return Event("progress", self.job, None, step, record["images_per_second"])


def _read_last_record(path: Path) -> dict[str, Any]:
    """Return the last complete record of a history; empty if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
            return json.loads(file.read().split(b"\n")[-2])
    except (OSError, IndexError, ValueError):
        return {}


def _work(plain: dict[str, Any]) -> tuple[str, str]:
    """Run a job on a Ray node, and return how it ended and why."""
    _prepare()
    job = Job.from_plain(plain)
    runs = Path(job.folder).parent
    if not runs.is_dir():
        node = socket.gethostname()
        return "blocked", (
            f"the node {node!r} cannot see {runs}. Put the study into a folder that "
            "every node can see."
        )
    outcome = work(job)
    return outcome.end, outcome.message


_prepare = functools.cache(prepare_process)


def _require_answer(address: str) -> None:
    """Raise an error for a wrong address within seconds; Ray would try for minutes."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()


@contextlib.contextmanager
def _kept_termination() -> Iterator[None]:
    """Restore the SIGTERM handler, which Ray replaces: a study saves on SIGTERM."""
    previous = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and previous is not None:
            signal.signal(signal.SIGTERM, previous)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Set an environment variable for a while, unless it is set already."""
    if name in os.environ:
        yield
        return
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]


def _lines(error: BaseException) -> list[str]:
    return [line.strip() for line in str(error).strip().split("\n")]
