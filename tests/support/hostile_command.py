"""Commands that are given hostile input, and what must hold when they end."""

import contextlib
import hashlib
import os
import resource
import signal
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from whole_command import run_whole

SECONDS = 8.0
"""Time limit of a case, on a busy machine; most take a fraction of a second."""

_LONGEST = 1_500
# Words of Python, numpy, h5py, torch and yaml that must not reach the user.
_RAW = (
    "Traceback",
    "fault of unbraid",
    "allow_pickle",
    "NoneType",
    "has no attribute",
    "DefaultCPUAllocator",
    "Unable to synchronously",
    "object is not",
    "Errno",
    "RuntimeError",
    "TypeError",
    "<class",
)


@dataclass(frozen=True)
class Case:
    """One command with hostile input.

    Attributes:
        name: Name of the test.
        arguments: Arguments of ``unbraid``; the current folder is empty but for what
            ``prepare`` put there.
        culprit: Text that the message must contain; ``None`` if the command must
            succeed.
        prepare: Makes the files of the case in the current folder.
        says: More text that must occur in the output.
        seconds: Time limit.
    """

    name: str
    arguments: tuple[object, ...]
    culprit: str | None
    prepare: Callable[[], object] = lambda: None
    says: str = ""
    seconds: float = SECONDS


class TimeUpError(BaseException):
    """The time limit of a case; no handler of errors may catch it."""


def faults(case: Case, call: Callable[..., object] = run_whole) -> list[str]:
    """Run a case in the current folder, and list what is wrong with its end."""
    case.prepare()
    before = contents(Path())
    started = time.monotonic()
    try:
        with time_limit(case.seconds), memory_limit():
            ended = call(*case.arguments)
    except TimeUpError:
        return [f"not over after {case.seconds:g} seconds"]
    except BaseException as error:
        return [f"raised {type(error).__name__}: {error}"]
    found = _faults_of_output(case, ended)
    if time.monotonic() - started > case.seconds:
        found.append(f"took more than {case.seconds:g} seconds")
    after = contents(Path())
    for path, content in before.items():
        if after.get(path) != content:
            found.append(f"{path} was {'changed' if path in after else 'deleted'}")
    return found


def _faults_of_output(case: Case, ended) -> list[str]:
    output = ended.stdout + ended.stderr
    found = [f"shows {raw!r}: {output}" for raw in _RAW if raw in output]
    lines = ended.stderr.splitlines()
    messages = [line for line in lines if line.startswith("unbraid")]
    if case.says not in output:
        found.append(f"does not say {case.says!r}: {output}")
    if case.culprit is None:
        if ended.returncode != 0:
            found.append(f"failed with {ended.returncode}: {output}")
        return found
    if ended.returncode not in (1, 2):
        found.append(f"ended with code {ended.returncode}: {output}")
    if len(messages) != 1 or lines[-1:] != messages or len(lines) > 3:
        found.append(f"has no single last line that says what is wrong: {output}")
    elif case.culprit not in messages[0]:
        found.append(f"does not name {case.culprit!r}: {messages[0]}")
    elif len(messages[0]) > _LONGEST:
        found.append(f"has a message of {len(messages[0])} letters")
    return found


def contents(folder: Path) -> dict[str, str]:
    """What lies in a folder, with a hash of every file of reasonable size."""
    found = {}
    for parent, folders, files in os.walk(folder):
        for name in folders + files:
            path = Path(parent, name)
            status = path.lstat()
            content = str(stat.S_IFMT(status.st_mode))
            if stat.S_ISREG(status.st_mode):
                content += f" {status.st_size}"
                if status.st_size < 10_000_000:
                    content += hashlib.sha256(path.read_bytes()).hexdigest()
            found[str(path)] = content
    return found


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`TimeUpError` in the block when the time is over."""

    def stop(number, frame):
        raise TimeUpError

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)


@contextlib.contextmanager
def memory_limit(n_bytes: int = 3_000_000_000) -> Iterator[None]:
    """Let the block take no more memory than this, so that a bomb harms nobody."""
    used = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf(
        "SC_PAGE_SIZE"
    )
    previous = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (used + n_bytes, previous[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, previous)
