"""The Ray executor: the same runs, on a Ray of this machine or on a cluster."""

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

from unbraid.foundation import import_extra

from ._executor import AbstractExecutor, Jobs
from ._job import Job, Outcome
from ._local import count_cores
from ._observer import Event
from ._work import ONE_THREAD, prepare_process, work

_QUIET_SECONDS = 0.25
_LOOK_SECONDS = 1.0
"""Between two looks at how far the runs are."""

_ANSWER_SECONDS = 10.0
"""In which a cluster must answer."""

_TAIL_BYTES = 2**16
"""Of a history, enough for its last line."""

_STORE_BYTES = 100 * 2**20
"""Of memory that Ray shares: nothing but words goes through it."""

LOSSES = "A worker died or was killed|killed due to memory pressure|marked dead"
"""Lines that Ray would print in between, whatever the level of its logs."""


class RayExecutor(AbstractExecutor):
    """Workers of Ray, on this machine or on a cluster.

    Runs are those of :class:`LocalExecutor`, with the same numbers: each computes with
    one thread, whatever it asks for. They are read from and written to the folder of
    the study, which every node must see under the same path; every node also needs
    this version of unbraid, and the data. A run whose worker or node is lost is tried
    again from its last saved state.

    Ray is started for the study and ends with it. If the calling program has called
    ``ray.init`` already, that Ray is used, and left as it was.

    Args:
        n_workers: Runs at once, as many as there is room for when not given.
        address: Of a cluster, as ``ray.init`` takes it, such as ``"auto"``; the
            environment variable ``RAY_ADDRESS`` when not given, or else a Ray of this
            machine alone.
        cpus: Cores to be requested for a run, above 0.
        gpus: Devices to be requested for a run; a fraction shares one.

    Raises:
        ImportError: If Ray is not installed; says how to.
    """

    def __init__(
        self,
        n_workers: int | None = None,
        *,
        address: str | None = None,
        cpus: float = 1,
        gpus: float = 0,
    ) -> None:
        if n_workers is not None and n_workers < 1:
            raise ValueError(f"study: expected workers from 1, got {n_workers}.")
        if cpus <= 0 or gpus < 0:
            raise ValueError(
                f"RayExecutor: expected cpus above 0 and gpus from 0, got {cpus} and "
                f"{gpus}."
            )
        # Ray looks at this when it is imported: the study tells of these losses itself.
        with _environment("RAY_DEDUP_LOGS_SKIP_REGEX", LOSSES):
            self._ray = import_extra("ray", "ray", feature="RayExecutor")
        self._n_workers = n_workers
        self._address = address or os.environ.get("RAY_ADDRESS")
        self._cpus, self._gpus = cpus, gpus
        self._is_ours = False
        self._running: dict[Any, _Running] = {}

    @property
    def n_workers(self) -> int:
        """Number of runs at once; a cluster is asked for it, if it was not given."""
        if self._n_workers is None:
            if self._address is None and not self._ray.is_initialized():
                nodes = [(count_cores(), torch.cuda.device_count())]
            else:
                self._connect()
                found = [
                    each["Resources"] for each in self._ray.nodes() if each["Alive"]
                ]
                nodes = [(each.get("CPU", 0), each.get("GPU", 0)) for each in found]
            self._n_workers = self._room(nodes)
        return self._n_workers

    def _room(self, nodes: Sequence[tuple[float, float]]) -> int:
        """Runs that nodes with so many cores and devices have room for."""
        room = 0
        for n_cpus, n_gpus in nodes:
            here = int(n_cpus / self._cpus)
            room += min(here, int(n_gpus / self._gpus)) if self._gpus else here
        if not room:
            raise ValueError(
                f"RayExecutor: expected a node with {self._cpus} cores and "
                f"{self._gpus} devices, got nodes with (cores, devices) {nodes}. Ask "
                "for less, or give the number of workers if such nodes are to come."
            )
        return room

    def run(self, jobs: Jobs) -> Generator[Event]:
        """Connect to Ray, hand out the jobs, and let go of Ray."""
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
            max_retries=0,  # the study decides what is tried again
            runtime_env={"env_vars": ONE_THREAD},
        )
        looked_at = 0.0
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
            if time.monotonic() - looked_at >= _LOOK_SECONDS:
                looked_at = time.monotonic()
                yield from filter(
                    None, [each.look() for each in self._running.values()]
                )
            if not ended:
                yield Event("quiet")

    def _wait(self) -> list[Any]:
        if not self._running:  # what is left is being done by another process
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
            # No fault of the run: `work` does not raise.
            message = f"a node that cannot work: {_lines(error)[-1]}"
            return Outcome(job.id, "blocked", message)
        except errors.RayError as error:
            reason = f"{type(error).__name__}. {' '.join(_lines(error))}"
            message = f"the Ray worker is gone: {reason[:500]}"
            return Outcome(job.id, "died", message)
        return Outcome(job.id, end, message)

    def stop(self) -> None:
        """Press Ctrl-C, as it were, in every worker."""
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
                f"RayExecutor: expected a Ray cluster at {address!r}, got none: "
                f"{_lines(error)[-1]}"
            ) from error

    def _start(self, options: dict[str, Any]) -> None:
        n_cpus = math.ceil(self.n_workers * self._cpus)
        n_gpus = torch.cuda.device_count()
        self._room([(n_cpus, n_gpus)])  # or else Ray would wait for ever
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
            found = list(self._running)
            self._ray.wait(found, num_returns=len(found), timeout=10)
            self._running.clear()
        if self._is_ours:
            self._is_ours = False
            self._ray.shutdown()


class _Running:
    """A job that was handed out, and how far its history says it is."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._history = Path(job.folder) / "history.jsonl"
        self._step = -1

    def look(self) -> Event | None:
        """Event of progress, if there is any."""
        record = _last_record(self._history)
        step = record.get("step", self._step)
        if step == self._step:
            return None
        self._step = step
        return Event("progress", self.job, None, step, record["images_per_second"])


def _last_record(path: Path) -> dict[str, Any]:
    """The last whole line of a history; nothing if there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(file.seek(0, os.SEEK_END) - _TAIL_BYTES, 0))
            return json.loads(file.read().split(b"\n")[-2])
    except (OSError, IndexError, ValueError):
        return {}


def _work(plain: dict[str, Any]) -> tuple[str, str]:
    """What a worker does, on its node."""
    _prepare()
    job = Job.from_plain(plain)
    runs = Path(job.folder).parent
    if not runs.is_dir():
        node = socket.gethostname()
        return "blocked", (
            f"the node {node!r}, which does not see {runs}. Put the study into a "
            "folder that every node sees."
        )
    outcome = work(job)
    return outcome.end, outcome.message


_prepare = functools.cache(prepare_process)


def _require_answer(address: str) -> None:
    """Meet a wrong address in seconds, after which Ray would look for minutes."""
    host, _, port = address.rpartition("://")[2].partition("/")[0].rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), _ANSWER_SECONDS).close()


@contextlib.contextmanager
def _kept_termination() -> Iterator[None]:
    """With SIGTERM as it was: Ray would end the process, where a study would save."""
    previous = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and previous is not None:
            signal.signal(signal.SIGTERM, previous)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """With a variable set, unless it is set already."""
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
