"""Counts how often files are read and networks are built, per process or worker."""

import contextlib
import os
import pkgutil
import sys
from collections import Counter
from pathlib import Path

from unbraid.data import DataSpec
from unbraid.models import Autoencoder

MAIN = "main"


class Trace:
    """What was read and built in a block, each by who did it.

    Attributes:
        reads: Number of times that each file was opened for reading, by worker and
            path within the watched folder. A worker is the id of a job, or ``"main"``.
        builds: Number of networks that were built, by worker.
        opened: Number of times that each dataset was opened, by its text.
    """

    def __init__(self, folder):
        self.folder = str(folder)
        self.reads, self.builds, self.opened = Counter(), Counter(), Counter()
        self.worker = MAIN

    def repeated(self):
        """Return the files that one worker read more than once."""
        return {key: count for key, count in self.reads.items() if count > 1}

    def read_by(self, worker):
        """Return the names of the files that a worker read."""
        return {Path(path).name for owner, path in self.reads if owner == worker}


_ACTIVE: list[Trace] = []


def _watch(event, arguments):
    if event != "open" or not _ACTIVE:
        return
    path, _, flags = arguments
    if isinstance(path, bytes):
        path = os.fsdecode(path)
    is_read = isinstance(path, str) and not flags & (os.O_WRONLY | os.O_RDWR)
    trace = _ACTIVE[-1]
    is_ours = is_read and path.startswith(trace.folder) and os.path.isfile(path)
    # NumPy opens a file for its header, and once more to map it into memory.
    if is_ours and not _is_called_from("memmap.py"):
        trace.reads[trace.worker, os.path.relpath(path, trace.folder)] += 1


def _is_called_from(name):
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.endswith(name):
            return True
        frame = frame.f_back
    return False


# A hook cannot be removed, so that there is one, which mostly does nothing.
sys.addaudithook(_watch)


@contextlib.contextmanager
def traced(folder, monkeypatch):
    """Trace what is read in a folder, and every network that is built.

    Jobs of the inline executor count as workers of their own.
    """
    trace = Trace(folder)
    build, open_data = Autoencoder.__init__, DataSpec.open
    work = pkgutil.resolve_name("unbraid.execution._inline:work")

    def counted_build(self, *arguments, **options):
        build(self, *arguments, **options)
        # On the meta device there are shapes without numbers, and nothing is built.
        if not any(weight.is_meta for weight in self.parameters()):
            trace.builds[trace.worker] += 1

    def counted_work(job, *arguments):
        trace.worker = job.id
        try:
            return work(job, *arguments)
        finally:
            trace.worker = MAIN

    def counted_open(self):
        trace.opened[str(self)] += 1
        return open_data(self)

    with monkeypatch.context() as patch:
        patch.setattr(Autoencoder, "__init__", counted_build)
        patch.setattr("unbraid.execution._inline.work", counted_work)
        patch.setattr(DataSpec, "open", counted_open)
        _ACTIVE.append(trace)
        try:
            yield trace
        finally:
            _ACTIVE.remove(trace)
