"""Delaying Ctrl-C until the current step is done."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def deferred_interruption(
    *, with_termination: bool = False
) -> Iterator[Callable[[], bool]]:
    """Delay Ctrl-C, so that a loop can finish its step and save a complete state.

    A second Ctrl-C interrupts at once, as does the first outside the main thread.

    Args:
        with_termination: Treat SIGTERM, which cluster managers send, in the same way.

    Yields:
        A function that returns whether Ctrl-C was pressed.
    """
    was_pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal was_pressed
        if was_pressed:
            raise KeyboardInterrupt
        was_pressed = True

    numbers = [signal.SIGINT, *([signal.SIGTERM] if with_termination else [])]
    is_main = threading.current_thread() is threading.main_thread()
    # A process that was started with Ctrl-C ignored keeps ignoring it.
    previous = {
        number: handler
        for number in numbers
        if is_main
        and (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }
    for number in previous:
        signal.signal(number, note)
    try:
        yield lambda: was_pressed
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
