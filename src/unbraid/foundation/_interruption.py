"""Ctrl-C in the middle of a step, held back until the step is done."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


@contextlib.contextmanager
def deferred_interruption(
    *, with_termination: bool = False
) -> Iterator[Callable[[], bool]]:
    """Ask between steps whether Ctrl-C was pressed, so that a whole state is saved.

    The second time it breaks off at once, as it always does outside the main thread.

    Args:
        with_termination: Whether SIGTERM, which managers of clusters send, counts too.

    Yields:
        A function that says whether it was pressed.
    """
    was_pressed = False

    def note(number: int, frame: Any) -> None:
        nonlocal was_pressed
        if was_pressed:
            raise KeyboardInterrupt
        was_pressed = True

    numbers = [signal.SIGINT, *([signal.SIGTERM] if with_termination else [])]
    is_main = threading.current_thread() is threading.main_thread()
    # A process that was started to ignore Ctrl-C goes on doing so.
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
