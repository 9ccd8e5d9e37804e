"""Ctrl-C in the middle of a step, held back until the step is done."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def deferred_interruption() -> Iterator[Callable[[], bool]]:
    """Ask between steps whether Ctrl-C was pressed, so that a whole state is saved.

    The second time it breaks off at once, as it always does outside the main thread.

    Yields:
        A function that says whether it was pressed.
    """
    was_pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal was_pressed
        if was_pressed:
            raise KeyboardInterrupt
        was_pressed = True

    previous = signal.getsignal(signal.SIGINT)
    is_main = threading.current_thread() is threading.main_thread()
    # A process that was started to ignore Ctrl-C goes on doing so.
    if not is_main or previous in (signal.SIG_IGN, None):
        yield lambda: False
        return
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: was_pressed
    finally:
        signal.signal(signal.SIGINT, previous)
