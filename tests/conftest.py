import signal

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


def pytest_collection_modifyitems(config, items):
    """Slow tests run only when asked for: ``pytest -m slow``."""
    if config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in set(slow)]
