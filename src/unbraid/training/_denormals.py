"""Flushing of denormal numbers, with which processors are a hundred times slower."""

import contextlib
from collections.abc import Iterator

import torch

# Below the smallest normal number of single precision.
_TINY = 1e-40


@contextlib.contextmanager
def flushed_denormals() -> Iterator[None]:
    """Treat numbers below 1e-38 as 0, in this thread and in threads started meanwhile.

    Adam's averages of a weight whose gradient has become 0 shrink to such numbers and
    stay there. With a few dead units, they take most of the time of a small model's
    update.
    """
    was_flushing = not torch.full((1,), _TINY).mul_(1.0).item()
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(was_flushing)
