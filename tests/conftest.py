import os
import signal

# Each test worker computes on one thread, and so do the processes it starts: two
# workers with two threads each would compete for two cores. Set before torch loads.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pytest
from plain_images import PlainImages

from unbraid.data import XYSquares

# A shell starts what runs in the background with Ctrl-C ignored, and children inherit
# that: tests of Ctrl-C would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def plain_images():
    """A dataset with no labels at all."""
    return PlainImages()


@pytest.fixture
def tiny_grid():
    """A complete grid of two factors, 16 images of 4x4 pixels."""
    return XYSquares(n_squares=1, image_size=4, square_size=1)


# Files that take long: they start first, so that no worker waits for them at the end.
LONG = (
    "tests/claims/",
    "tests/execution/",
    "tests/studies/test_kill.py",
    "tests/training/test_kill.py",
    "tests/studies/",
    "tests/evolution/",
    "tests/discovery/",
    "tests/hostile/",
    "tests/reports/",
    "tests/browser/",
    "tests/cli/",
    "tests/test_",
)
# Files that start a Ray of their own: one worker runs them, as two would be too many.
RAY = ("tests/execution/", "tests/studies/test_kill.py")


def pytest_collection_modifyitems(config, items):
    """Order tests for a parallel run, and leave out slow tests.

    Slow tests run only when a marker expression is given, as in ``pytest -m slow``.
    """
    items.sort(key=_turn)
    if config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]


def _turn(item):
    starts = [item.nodeid.startswith(name) for name in LONG]
    return starts.index(True) if any(starts) else len(LONG)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give each test file to one worker, which makes the file's fixtures once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return "Ray" if nodeid.startswith(RAY) else nodeid.partition("::")[0]

    # In the order above, and not by the number of tests.
    config.option.loadscopereorder = False
    return ByFile(config, log)
