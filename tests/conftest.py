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


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Group tests that share expensive fixtures, and leave out slow tests.

    Slow tests run only when a marker expression is given, as in ``pytest -m slow``.
    """
    for item in items:
        if not item.get_closest_marker("xdist_group") and _has_module_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    if config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]


def _has_module_fixture(item):
    """Whether a test uses a fixture that is made once per file.

    With ``--dist loadgroup``, all tests of a group run on one worker, which therefore
    makes the fixture once and not once per worker.
    """
    fixtures = getattr(item, "_fixtureinfo", None)
    definitions = fixtures.name2fixturedefs.values() if fixtures else ()
    return any(part[-1].scope == "module" for part in definitions)
